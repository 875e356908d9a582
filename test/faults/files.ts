import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Emulator } from '../../emulator/emulator.ts'
import type { Service } from '../../emulator/workers/outbound.ts'
import { BASE } from '../../lib/http/app.ts'
import { sha256 } from '../../lib/request/hash.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database, exportKey } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'
import type { Fault } from './fault.ts'

/** Rows of a file that takes four statements: of 1000, twice 5000 and 2000 rows. */
const ROWS = 13_000
export const STATEMENTS = 4

const WINDOW = { fromDate: '2015-01-01', toDate: '2015-12-31' }

/** An endpoint of either kind, with the parameters of a window that has all rows. */
export const ENDPOINTS = [
  { name: 'competitors', query: WINDOW },
  { name: 'changes', query: {} },
]
export const FORMATS = ['csv', 'ndjson']

/** A fault of some consecutive requests of one client to a server; they are counted from 0. */
export type Trouble = {
  readonly service: Service
  readonly from: number
  readonly lasting: number
  readonly fault: Fault
}

/** A client with a key and a budget of its own. */
export type FileClient = {
  readonly id: string
  readonly keyId: string
  readonly headers: Readonly<Record<string, string>>
  /** Its requests to each server. */
  readonly asked: Record<Service, number>
  troubles: readonly Trouble[]
}

/** A file, and its bytes as a client without troubles receives them. */
type WholeFile = { readonly target: string; readonly whole: Buffer }

/** Files of one tenant. */
export type Files = { readonly owner: Tenant; readonly files: readonly WholeFile[] }

/** What a client received of a file, and whether it takes that for the whole; status 0 when nothing was answered. */
type Transfer = { readonly status: number; readonly bytes: Buffer; readonly hasEnded: boolean }

export type FileService = {
  readonly addClient: (of: Tenant) => Promise<FileClient>
  /** Adds a tenant with files of some endpoints and formats; of all when left out. */
  readonly addFiles: (endpoints?: typeof ENDPOINTS, formats?: typeof FORMATS) => Promise<Files>
  /** What the Workers have logged. */
  readonly log: readonly string[]
}

/** A service of the test file's own that sends files to clients, each with troubles of its own. */
export function fileService(): FileService {
  const db = database()
  const log: string[] = []
  let service: Emulator

  /** By the hashes of keys and of identities. A request to a server has one of these. */
  const clients = new Map<string, FileClient>()

  beforeAll(async () => {
    service = await startOwnService({
      intercept: async (service, request, genuine) => {
        const client = clients.get(/\b[0-9a-f]{64}\b/.exec(await request.clone().text())?.[0] ?? '')
        if (client === undefined) return undefined
        const nth = client.asked[service]
        client.asked[service] += 1
        const met = client.troubles.find(
          (each) => each.service === service && each.from <= nth && nth < each.from + each.lasting,
        )
        return met?.fault.strike(genuine, request)
      },
      onLog: (line) => log.push(line),
    })
  })
  afterAll(() => service.close())

  async function addClient({ org }: Tenant): Promise<FileClient> {
    const { id: keyId, key } = await exportKey(db, org)
    const id = randomUUID()
    const headers = { 'X-API-Key': key, Authorization: id, 'X-Request-Id': id }
    const client = { id, keyId, headers, asked: { neon: 0, upstash: 0 }, troubles: [] }
    clients.set(await sha256(key), client)
    clients.set(await sha256(`authorization ${id}`), client)
    return client
  }

  async function addFiles(endpoints = ENDPOINTS, formats = FORMATS): Promise<Files> {
    const owner = await tenant(db)
    const { brandId } = owner
    const files: WholeFile[] = []
    for (const { name, query } of endpoints) {
      await fillDaily(db, { name, brandId, rows: ROWS, first: WINDOW.fromDate, days: 365 })
      for (const format of formats) {
        const target = `${service.url}${BASE}/${name}?${new URLSearchParams({ brandId, format, ...query })}`
        const { headers } = await addClient(owner)
        const { status, bytes: whole, hasEnded } = await viaFetch(target, { headers })
        expect({ status, hasEnded }).toEqual({ status: 200, hasEnded: true })
        expect(whole.filter((byte) => byte === 0x0a)).toHaveLength(format === 'csv' ? ROWS + 1 : ROWS)
        files.push({ target, whole })
      }
    }
    return { owner, files }
  }

  return { addClient, addFiles, log }
}

/** Requests a file and keeps what it receives of it. */
type Receive = (target: string, init: RequestInit & Pick<FileClient, 'headers'>) => Promise<Transfer>

export const viaFetch: Receive = async (target, init) => {
  const chunks: Uint8Array[] = []
  let status = 0
  let hasEnded = false
  try {
    const response = await fetch(target, init)
    status = response.status
    for await (const chunk of response.body ?? []) chunks.push(chunk)
    hasEnded = true
  } catch {}
  return { status, bytes: Buffer.concat(chunks), hasEnded }
}

/** The exit code of curl for a transfer without its end. */
const PARTIAL_FILE = 18

export const viaCurl: Receive = (target, { headers }) => {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const args = ['-sS', '--compressed', '-w', '%{stderr}%{http_code}', ...fields, target]
  return new Promise((resolve) => {
    execFile('curl', args, { encoding: 'buffer', maxBuffer: 2 ** 28 }, (error, bytes, printed) => {
      const status = Number(printed.subarray(-3))
      resolve({ status, bytes, hasEnded: error?.code !== PARTIAL_FILE })
    })
  })
}

/** Expects the whole file, or a transfer that fails after a part of it, or a response of one of some statuses. */
export function expectWholeOrFailed(
  { status, bytes, hasEnded }: Transfer,
  { whole, statuses }: Pick<WholeFile, 'whole'> & { readonly statuses: readonly number[] },
): 'whole' | 'failed' {
  if (status !== 200) {
    expect(statuses, bytes.toString()).toContain(status)
    return 'failed'
  }
  expect(bytes.equals(whole.subarray(0, bytes.length)), 'other bytes than those of the file').toBe(true)
  if (!hasEnded) return 'failed'
  expect(bytes.length, 'a part that looks like the whole file').toBe(whole.length)
  return 'whole'
}
