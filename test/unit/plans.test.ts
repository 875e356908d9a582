import { expect, test } from 'vitest'
import { isPlan, PAID_PLANS, PLANS } from '../../lib/access/plans.ts'

test('each plan has the lookback and the keys of the specification', () => {
  expect(PLANS).toMatchObject({
    lite: { keys: 0 },
    pro: { lookbackDays: 90, keys: 2 },
    agency: { lookbackDays: 180, keys: 5 },
    enterprise: { lookbackDays: null, keys: 20 },
  })
})

test('every plan but lite includes the API', () => {
  expect([...PAID_PLANS].sort()).toEqual(['agency', 'enterprise', 'pro'])
})

test('only the four plans are plans', () => {
  expect(['lite', 'pro', 'agency', 'enterprise'].every(isPlan)).toBe(true)
  expect([null, '', 'Pro', 'free', 'toString', '__proto__'].some(isPlan)).toBe(false)
})
