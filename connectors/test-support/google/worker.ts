import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { lookerStudio } from './looker-studio.ts'
import { properties, scripts } from './script.ts'
import { spreadsheet } from './sheets.ts'

// The thread in which startAppsScript runs a project: its calls block, as those of Apps Script do.

const { path, prompts, requestMs, otherCells, isLocked, signal, requests } = workerData

/** How far the script's clock is ahead: what only the script believes to have waited. */
let ahead = 0
let mustWait = false

function sleep(ms: number): void {
  if (mustWait) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  else ahead += ms
}

type Params = { readonly headers?: Record<string, string>; readonly muteHttpExceptions?: boolean }

function fetchUrl(url: string, { headers = {}, muteHttpExceptions = false }: Params = {}): object {
  ahead += requestMs
  Atomics.store(signal, 0, 0)
  requests.postMessage({ url, headers })
  Atomics.wait(signal, 0, 0)
  const { status, headers: received, text, error } = receiveMessageOnPort(requests)?.message ?? {}
  // The budget is refilled in real time.
  mustWait = status === 429
  if (error !== undefined) throw new Error(`Address unavailable: ${url}`)
  if (status >= 400 && !muteHttpExceptions)
    throw new Error(`Request failed for ${url} returned code ${status}. Truncated server response: ${text}`)
  return { getResponseCode: () => status, getHeaders: () => received, getContentText: () => text }
}

const user = properties()
const document = properties()
const { triggers, scriptApp } = scripts()
const book = spreadsheet({ prompts, otherCells })

const context = createContext({
  console,
  DataStudioApp: lookerStudio(),
  LockService: { getDocumentLock: () => ({ tryLock: () => !isLocked, releaseLock: () => undefined }) },
  PropertiesService: { getUserProperties: () => user.service, getDocumentProperties: () => document.service },
  ScriptApp: scriptApp,
  Sheets: book.sheets,
  SpreadsheetApp: book.spreadsheetApp,
  UrlFetchApp: { fetch: fetchUrl },
  Utilities: { sleep },
  now: () => Date.now() + ahead,
})
runInContext('Date.now = now', context)
for (const file of readdirSync(path))
  if (file.endsWith('.js')) runInContext(readFileSync(join(path, file), 'utf8'), context, { filename: file })

const world = () => ({
  ...book.read(),
  triggers: triggers(),
  userProperties: user.read(),
  documentProperties: document.read(),
})

parentPort?.on('message', ({ name, args }) => {
  try {
    const result = name === undefined ? world() : runInContext(name, context)(...args)
    parentPort?.postMessage({ result })
  } catch (error) {
    parentPort?.postMessage({ error: messageOf(error) })
  }
})

// Errors of the context are not instances of this thread's Error.
const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
