import { beforeAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call } from '../../../test/fixtures/call.ts'
import { addHostileTexts } from '../../../test/fixtures/hostile-texts.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { runScript } from '../../test-support/apps-script.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import { served } from '../../test-support/served.ts'

// Runs the script in Node, over the few functions of Google that it calls and the real service.

const db = database()
const WINDOW = { fromDate: '2026-10-02', toDate: '2026-10-04' }

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
  await addHostileTexts(db, its.brandId, '2026-10-04')
})

/** Opens a spreadsheet. `setUp` answers the questions of the script. */
function openBook() {
  const sheets: Record<string, unknown[][]> = {}
  const answers: string[] = []
  const prompt = () => ({ getSelectedButton: () => 'ok', getResponseText: () => answers.shift() })
  const ui = { ButtonSet: {}, Button: { OK: 'ok' }, prompt }
  const open = (name: string) => ({
    getLastRow: () => sheets[name]?.length ?? 0,
    getMaxRows: () => 1000,
    insertRowsAfter: () => {},
    getRange: () => ({
      setNumberFormat: () => {},
      setValues: (rows: unknown[][]) => {
        sheets[name] = rows.map((row) => row.map(enter)).filter((row) => row.some((cell) => cell !== null))
      },
    }),
  })
  const book = { getSheetByName: (name: string) => sheets[name] && open(name), insertSheet: open }
  const SpreadsheetApp = { getUi: () => ui, getActive: () => book }
  const LockService = { getDocumentLock: () => ({ waitLock: () => {} }) }
  const run = runScript('sheets', { SpreadsheetApp, LockService })
  const setUp = (key = its.key, { fromDate, toDate } = WINDOW, address = inject('serviceUrl')) => {
    answers.push(address, key, its.brandId, fromDate, toDate)
    run.script.setUp?.()
  }
  return { ...run, sheets, setUp, reload: () => run.script.reload?.() }
}

/** Returns what a cell shows when a script writes a value: Sheets evaluates a text without an apostrophe. */
function enter(value: unknown): unknown {
  if (typeof value !== 'string' || /^[a-z_]+$/i.test(value)) return value
  return value === '' ? null : value.startsWith("'") ? value.slice(1) : { evaluated: value }
}

/** Returns what the cell of a value of the service shows: days since 1899-12-30, and nothing of an empty text. */
const cellOf = (type: string, value: unknown): unknown =>
  /date|timestamp/.test(type) ? Date.parse(String(value)) / 86_400_000 + 25_569 : value === '' ? null : value

test('loads a window of every endpoint into a sheet each, and replaces longer rows of an earlier load', async () => {
  const { setUp, reload, sheets } = openBook()
  setUp(` ${its.key}\r\n`, { ...WINDOW, fromDate: '2026-10-01' }, `${inject('serviceUrl')}/api/export/v1/`)
  reload()
  expect(sheets.sentiment).toHaveLength(5)
  setUp()
  reload()
  for (const stream of readStreams().filter(({ kind }) => kind !== 'changes')) {
    const rows = await served(stream, { key: its.key, brandIds: [its.brandId], query: WINDOW })
    const fields = stream.columns.filter(({ field }) => field !== 'brand_id')
    expect(rows.length).toBeGreaterThan(0)
    expect(sheets[stream.endpoint]).toEqual([
      fields.map(({ field }) => field),
      ...rows.map((row) => fields.map(({ field, type }) => cellOf(type, row[field]))),
    ])
  }
})

test(`shows the service's message without the key, follows no redirect, and leaves the sheets`, async () => {
  const { setUp, reload, sheets, queue, requests } = openBook()
  const wrong = its.key.replace(/.{4}$/, '0000')
  setUp(wrong)
  expect(reload).toThrow((await call('/brands', { key: wrong })).error)
  const encoded = wrong.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
  queue.push({ status: 400, text: JSON.stringify({ error: `\u001b${wrong.toUpperCase()} ${encoded}` }) })
  expect(reload).toThrow(/^ <API key> <API key>$/)
  for (const request of requests) expect(request).toMatchObject({ followRedirects: false })
  expect(sheets).toEqual({})
})

test('waits Retry-After seconds, and ends after ten requests or a longer wait than 300 s', () => {
  const { setUp, reload, queue, sleeps } = openBook()
  const busy = (...seconds: string[]) =>
    seconds.map((wait) => ({ status: 429, text: '{"error":"Busy."}', headers: { 'Retry-After': wait } }))
  setUp()
  queue.push(...busy('7', 'soon'), { status: 503, text: '' }, { status: 200, text: '{"cut' }, ...busy('301'))
  expect(reload).toThrow('Busy.')
  queue.push(...busy(...Array(10).fill('1')))
  expect(reload).toThrow('Busy.')
  expect(sleeps).toEqual([7000, 12_000, 4000, 8000, ...Array(9).fill(1000)])
})
