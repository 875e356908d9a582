import { describe, expect, test } from 'vitest'
import {
  dayOf,
  EVERY_DAY,
  lacksFromDate,
  resolveWindow,
  resumeWindow,
  withDefaults,
} from '../../lib/statement/window.ts'

const NOON = new Date('2026-11-21T12:00:00.000Z')
const LAST_MS = new Date('2026-11-21T23:59:59.999Z')
const MIDNIGHT = new Date('2026-11-22T00:00:00.000Z')

describe('the window of a first page', () => {
  test('is the last 30 days up to now', () => {
    expect(resolveWindow({}, 'enterprise', NOON)).toMatchObject({
      first: '2026-10-22',
      last: '2026-11-21',
      end: '2026-11-21T12:00:00.000Z',
    })
  })

  test('moves on with the UTC day, at midnight and not before', () => {
    expect(dayOf(LAST_MS)).toBe('2026-11-21')
    expect(dayOf(MIDNIGHT)).toBe('2026-11-22')
    expect(resolveWindow({}, 'pro', LAST_MS)).toMatchObject({
      first: '2026-10-22',
      last: '2026-11-21',
      end: '2026-11-21T23:59:59.999Z',
    })
    expect(resolveWindow({}, 'pro', MIDNIGHT)).toMatchObject({
      first: '2026-10-23',
      last: '2026-11-22',
      end: '2026-11-22T00:00:00.000Z',
    })
  })

  test('ends with the last millisecond of toDate', () => {
    expect(resolveWindow({ toDate: '2026-11-01' }, 'pro', NOON)).toMatchObject({
      first: '2026-10-22',
      last: '2026-11-01',
      end: '2026-11-01T23:59:59.999Z',
    })
  })

  // 2026-11-21 − 90 days: 21 of November, 31 of October, 30 of September make 82, and 8 more end on 23 August.
  // 180 days: 82 and 31 of August, 31 of July make 144, 30 of June 174, and 6 more end on 25 May.
  test.each([
    ['pro', '2026-08-23'],
    ['agency', '2026-05-25'],
    ['enterprise', '0001-01-01'],
  ] as const)('of a %s key starts on %s at the earliest', (plan, earliest) => {
    expect(resolveWindow({ fromDate: '0001-01-01' }, plan, NOON).first).toBe(earliest)
    expect(resolveWindow({ fromDate: earliest }, plan, LAST_MS).first).toBe(earliest)
  })

  test('may end before it starts, and is then empty', () => {
    expect(resolveWindow({ fromDate: '2026-01-01', toDate: '2026-01-31' }, 'pro', NOON)).toMatchObject({
      first: '2026-08-23',
      last: '2026-01-31',
      end: '2026-01-31T23:59:59.999Z',
    })
    expect(resolveWindow({ fromDate: '2026-12-01' }, 'pro', NOON)).toMatchObject({
      first: '2026-12-01',
      last: '2026-11-21',
      end: '2026-11-21T12:00:00.000Z',
    })
  })

  test('counts days over a leap day', () => {
    expect(resolveWindow({}, 'pro', new Date('2024-03-15T00:00:00.000Z')).first).toBe('2024-02-14')
    expect(resolveWindow({}, 'pro', new Date('2023-03-15T00:00:00.000Z')).first).toBe('2023-02-13')
  })
})

describe('the window of every day', () => {
  const resolve = (requested: object, plan: 'pro' | 'enterprise') =>
    resolveWindow(withDefaults(requested, EVERY_DAY), plan, NOON)

  test('reaches as far back as the plan, and has no end', () => {
    const end = { last: '9999-12-31', end: '9999-12-31T23:59:59.999Z' }
    expect(resolve({}, 'enterprise')).toMatchObject({ first: '0001-01-01', ...end })
    expect(resolve({}, 'pro')).toMatchObject({ first: '2026-08-23', ...end })
  })

  test('is bounded by the dates of the request', () => {
    expect(resolve({ fromDate: '2026-10-01' }, 'pro')).toMatchObject({
      first: '2026-10-01',
      last: '9999-12-31',
    })
    expect(resolve({ toDate: '2020-01-31' }, 'enterprise')).toMatchObject({
      first: '0001-01-01',
      last: '2020-01-31',
      end: '2020-01-31T23:59:59.999Z',
    })
    expect(lacksFromDate(withDefaults({ toDate: '0001-01-01' }, EVERY_DAY), NOON)).toBe(false)
  })
})

describe('the window of a later page', () => {
  const pinned = resolveWindow({ fromDate: '2020-01-01', toDate: '2026-11-20' }, 'pro', NOON)

  test.each([
    ['of the same day', NOON],
    ['after midnight', MIDNIGHT],
    ['after 6 days and 23 hours', new Date('2026-11-28T11:00:00.000Z')],
  ])('%s is the first page’s', (_, now) => {
    expect(resumeWindow(pinned, 'pro', now)).toEqual(pinned)
  })

  // 2026-11-28 − 90 days: 7 days after 2026-08-23.
  test('after seven days starts at the clamp, again on each later day', () => {
    expect(resumeWindow(pinned, 'pro', new Date('2026-11-28T12:00:00.000Z'))).toEqual(pinned)
    const clamped = resumeWindow(pinned, 'pro', new Date('2026-11-28T12:00:00.001Z'))
    expect(clamped).toEqual({ ...pinned, first: '2026-08-30' })
    const next = resumeWindow(clamped, 'pro', new Date('2026-11-29T00:00:00.000Z'))
    expect(next).toEqual({ ...pinned, first: '2026-08-31' })
  })

  test('keeps a start that the clamp reaches within the seven days, and no longer', () => {
    const recent = resolveWindow({ fromDate: '2026-08-26' }, 'pro', NOON)
    expect(resumeWindow(recent, 'pro', new Date('2026-11-28T12:00:00.000Z'))).toEqual(recent)
    const later = resumeWindow(recent, 'pro', new Date('2026-11-28T12:00:00.001Z'))
    expect(later).toEqual({ ...recent, first: '2026-08-30' })
  })

  test('keeps a start that the clamp has not reached, after any time', () => {
    const recent = resolveWindow({ fromDate: '2026-11-01' }, 'pro', NOON)
    expect(resumeWindow(recent, 'pro', new Date('2027-01-30T12:00:00.000Z'))).toEqual(recent)
    expect(resumeWindow(recent, 'pro', new Date('2027-01-31T12:00:00.000Z')).first).toBe('2026-11-02')
  })

  test('is clamped at once, to the day, when the plan was lowered', () => {
    const wide = resolveWindow({ fromDate: '2020-01-01' }, 'enterprise', NOON)
    expect(resumeWindow(wide, 'agency', NOON)).toEqual({ ...wide, first: '2026-05-25' })
    const ofAgency = (fromDate: string) => resolveWindow({ fromDate }, 'agency', NOON)
    expect(resumeWindow(ofAgency('2020-01-01'), 'pro', NOON).first).toBe('2026-08-23')
    expect(resumeWindow(ofAgency('2026-08-22'), 'pro', NOON).first).toBe('2026-08-23')
    expect(resumeWindow(ofAgency('2026-08-24'), 'pro', NOON)).toEqual(ofAgency('2026-08-24'))
  })

  test('does not grow when the plan was raised', () => {
    expect(resumeWindow(pinned, 'enterprise', NOON)).toEqual(pinned)
    expect(resumeWindow(pinned, 'agency', MIDNIGHT)).toEqual(pinned)
  })
})

test('a window lacks fromDate when toDate alone lies before the default start', () => {
  expect(lacksFromDate({ toDate: '2026-10-21' }, NOON)).toBe(true)
  expect(lacksFromDate({ toDate: '2026-10-22' }, NOON)).toBe(false)
  expect(lacksFromDate({ toDate: '2026-10-22' }, MIDNIGHT)).toBe(true)
  expect(lacksFromDate({ fromDate: '2026-01-01', toDate: '2026-10-21' }, NOON)).toBe(false)
  expect(lacksFromDate({}, NOON)).toBe(false)
})
