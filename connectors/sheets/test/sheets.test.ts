import { beforeAll, expect, inject, test } from 'vitest'
import document from '../../../functions/openapi.json' with { type: 'json' }
import { readStreams } from '../../../site/reference/streams.ts'
import { call } from '../../../test/fixtures/call.ts'
import { addHostileTexts } from '../../../test/fixtures/hostile-texts.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { runScript } from '../../test-support/apps-script.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import { served } from '../../test-support/served.ts'

// Runs the script in Node, over imitations of Google's services and the real service.

const db = database()
const WINDOW = { fromDate: '2026-10-02', toDate: '2026-10-04' }

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
  await addHostileTexts(db, its.brandId, '2026-10-04')
})

/** Starts the script in a new spreadsheet, with the settings that a user enters. */
function openBook(key = its.key, { fromDate, toDate } = WINDOW, address = inject('serviceUrl')) {
  const sheets: Record<string, unknown[][]> = {}
  const answers = [address, key, its.brandId, fromDate, toDate]
  const ui = {
    ButtonSet: { OK_CANCEL: 'both' },
    Button: { OK: 'ok', CANCEL: 'cancel' },
    prompt: (_: string, question: string) => ({
      getSelectedButton: () => (answers.length > 0 ? 'ok' : 'cancel'),
      getResponseText: () => answers.shift() ?? question,
    }),
  }
  const open = (name: string) => ({
    getLastRow: () => sheets[name]?.length ?? 0,
    getMaxRows: () => 1000,
    insertRowsAfter: () => {},
    setFrozenRows: () => {},
    getRange: () => ({
      setNumberFormat: () => {},
      setValues(values: unknown[][]) {
        const rows = values.map((row) => row.map(enter))
        sheets[name] = rows.filter((row) => row.some((cell) => cell !== null))
      },
    }),
  })
  const book = {
    getSheetByName: (name: string) => (name in sheets ? open(name) : null),
    insertSheet: open,
    toast: () => {},
  }
  const SpreadsheetApp = { getUi: () => ui, getActive: () => book, flush: () => {} }
  const lock = { isTaken: false }
  const documentLock = {
    tryLock: () => {
      const isFree = !lock.isTaken
      lock.isTaken = true
      return isFree
    },
    releaseLock: () => {
      lock.isTaken = false
    },
  }
  const LockService = { getDocumentLock: () => documentLock }
  const run = runScript('sheets', { SpreadsheetApp, LockService })
  run.script.setUp?.()
  return { ...run, sheets, answers, lock }
}

/** Returns what a cell shows when a script writes a value: Sheets evaluates a text without an apostrophe. */
function enter(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (value.startsWith("'")) return value.slice(1)
  if (value === '') return null
  return /^[a-z_]+$/i.test(value) ? value : { evaluated: value }
}

/** Returns a value of the service as its cell holds it: days and times are days since 1899-12-30, an empty text is empty. */
function cellOf(type: string, value: unknown): unknown {
  if (value === null || value === '') return null
  return type === 'date' || type === 'timestamp' ? Date.parse(String(value)) / 86_400_000 + 25_569 : value
}

test('loads a window of every endpoint into a sheet each, whatever address and key other editors store', async () => {
  const { script, sheets, documentProperties } = openBook()
  documentProperties.setProperty('baseUrl', 'http://127.0.0.1:9')
  documentProperties.setProperty('apiKey', 'svc_live_other')
  script.reload?.()
  for (const stream of readStreams()) {
    const { endpoint, kind, columns } = stream
    if (kind === 'changes') continue
    const rows = await served(stream, { key: its.key, brandIds: [its.brandId], query: WINDOW })
    const fields = columns.filter(({ name }) => kind === 'brands' || name !== 'brand_id')
    expect(rows.length).toBeGreaterThan(0)
    expect(sheets[endpoint]).toEqual([
      fields.map(({ field }) => field),
      ...rows.map((row) => fields.map(({ field, type }) => cellOf(type, row[field]))),
    ])
  }
})

test('replaces longer rows of an earlier load', () => {
  const { script, sheets, answers } = openBook()
  script.reload?.()
  const before = sheets.sentiment?.length
  answers.push(inject('serviceUrl'), its.key, its.brandId, WINDOW.fromDate, WINDOW.fromDate)
  script.setUp?.()
  script.reload?.()
  expect([before, sheets.sentiment?.length]).toEqual([4, 2])
})

test(`leaves the sheets as they were when a load fails, and shows the service's message without the key`, async () => {
  const own = await tenant(db)
  const { script, sheets, queue } = openBook(own.key)
  expect(() => script.reload?.()).toThrow(/brand/i)
  const before = structuredClone(sheets)
  queue.push({ status: 500, text: '<html>' })
  expect(() => script.reload?.()).toThrow('The service answered 500.')
  const encoded = own.key.toUpperCase().replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
  const repeated =
    `\u001b${own.key} ${own.key.toUpperCase()} ${encoded} `.padEnd(960, '.') + own.key.repeat(5000)
  queue.push({ status: 400, text: JSON.stringify({ error: repeated }) })
  expect(() => script.reload?.()).toThrow(/^ <API key> <API key> <API key> \.+(<API key>)+<?[\w ]*$/)
  await db.query('update api_keys set revoked_at = now() where id = $1', [own.keyId])
  const { error } = await call('/brands', { key: own.key })
  expect(() => script.reload?.()).toThrow(error)
  expect(sheets).toEqual(before)
})

test('one reload runs at a time', () => {
  const { script, sheets, lock, queue } = openBook()
  lock.isTaken = true
  expect(() => script.reload?.()).toThrow('Another reload of this spreadsheet runs.')
  expect(sheets).toEqual({})
  lock.isTaken = false
  queue.push({ status: 500, text: '' })
  expect(() => script.reload?.()).toThrow('The service answered 500.')
  script.reload?.()
  expect(sheets.sentiment).toHaveLength(4)
})

test('waits Retry-After seconds, and gives up after five tries', () => {
  const { script, queue, sleeps } = openBook()
  const busy = (seconds: string) => ({
    status: 429,
    text: '{"error":"Too many requests."}',
    headers: { 'Retry-After': seconds },
  })
  queue.push(busy('7'), busy('12'))
  script.reload?.()
  expect(sleeps).toEqual([7000, 12_000])
  queue.push(...Array(5).fill(busy('1')))
  expect(() => script.reload?.()).toThrow('Too many requests.')
})

test('requests a file that is cut again, up to three times', async () => {
  const { script, sheets, queue } = openBook(its.key)
  const file = (text: string, headers: Record<string, string> = {}) => ({ status: 200, text, headers })
  const description = file(JSON.stringify(document))
  const cut = [
    file('id,name\r\n"4c'),
    file('id,name\r\n', { 'x-expected-rows': '1' }),
    file('id,name\r\n1,a\r\n2,b\r\n', { 'X-EXPECTED-ROWS': '1' }),
  ]
  queue.push(description, ...cut)
  expect(() => script.reload?.()).toThrow('The file of brands arrived incomplete three times.')
  expect(sheets).toEqual({})
  queue.push(description, ...cut.slice(1), file('id,name\r\n1,a\r\n', { 'X-Expected-Rows': '1' }))
  script.reload?.()
  expect(sheets.brands).toEqual([expect.arrayContaining(['id', 'name']), expect.arrayContaining(['1', 'a'])])
})

test('sends the key in Authorization too, to an address as people paste it, and to no redirect', () => {
  for (const end of ['', '/', '/api/export/v1', '/api/export/v1/ \n']) {
    const { script, queue, requests } = openBook(` ${its.key}\r\n`, WINDOW, inject('serviceUrl') + end)
    queue.push({ status: 302, text: '', headers: { Location: `${inject('serviceUrl')}/elsewhere` } })
    expect(() => script.reload?.()).toThrow('The service answered 302.')
    const headers = { 'X-API-Key': its.key, Authorization: `Bearer ${its.key}` }
    expect(requests).toEqual([[`${inject('serviceUrl')}/api/export/v1/openapi.json?`, headers]])
  }
})

test('names an address or a key that is wrong at once, and shows no key', () => {
  for (const address of ['', 'api.example.com', 'htps://api.example.com'])
    expect(() => openBook('key', WINDOW, address)).toThrow('The address of the service must look like')
  for (const key of ['', 'a key', 'a\nkey', 'clé', 'a\u0001key'])
    expect(() => openBook(key)).toThrow(/^The API key is missing, or has characters that no key has\.$/)
})
