import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { migrateToLatest } from '../../cli/workers/migrate-to-latest.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { NO_OUTER_LIMIT, startEmulator } from '../../emulator/emulator.ts'
import { BASE } from '../../lib/http/app.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { readStreams } from '../../site/reference/streams.ts'
import { messageMaker } from '../typescript/src/message.ts'
import { addBrands } from './brands.ts'
import { addOrganization, daysBefore, START } from './organization.ts'

export type Row = Readonly<Record<string, unknown>>

/** The rows of each table, by its name. */
export type Tables = ReadonlyMap<string, readonly Row[]>

export type Service = Awaited<ReturnType<typeof startService>>

/** The tables that copies have. */
export const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')

/** Starts the service on data of its own. Takes the bundles that are in dist/. */
export async function startService() {
  const emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    crons: false,
    bundle: false,
    outerLimit: NO_OUTER_LIMIT,
  })
  const client = new pg.Client({ connectionString: emulator.databaseUrl })
  const today = new Date().toISOString().slice(0, 10)
  const [key, ownKey] = [mintApiKey(), mintApiKey()]
  const close = async () => {
    await client.end()
    await emulator.close()
  }

  /** Reads all pages of a list, and the first day that the plan reaches. */
  async function pull(path: string, query: Readonly<Record<string, string>>) {
    const rows: Row[] = []
    for (let cursor = ''; ; ) {
      const url = `${emulator.url}${BASE}/${path}?${new URLSearchParams({ ...query, cursor })}`
      // A rate limit of its own for each request.
      const headers = { 'X-API-Key': ownKey, 'User-Agent': randomUUID() }
      const response = await fetch(url, { headers })
      if (!response.ok)
        throw new Error(messageMaker(ownKey)(`${path}: ${response.status} ${await response.text()}`))
      const { data, pagination, meta } = await response.json()
      rows.push(...data)
      cursor = pagination?.nextCursor ?? ''
      if (cursor === '') return { rows, first: String(meta?.fromDate).slice(0, 10) }
    }
  }

  /** Returns all rows that the service serves, and the first day that the plan reaches. */
  async function read(): Promise<{ tables: Tables; fromDate: string }> {
    const tables = new Map<string, Row[]>()
    const { rows: brands } = await pull('brands', {})
    let fromDate = ''
    for (const { name, endpoint, kind } of STREAMS) {
      const found: Row[] = kind === 'brands' ? brands : []
      for (const { id } of kind === 'brands' ? [] : brands) {
        const window = { brandId: String(id), fromDate: startDate, toDate: '9999-12-31' }
        const { rows, first } = await pull(endpoint, window)
        found.push(...rows.map((row) => ({ brand_id: id, ...row })))
        fromDate = first
      }
      tables.set(name, found)
    }
    return { tables, fromDate }
  }

  const startDate = daysBefore(today, START)
  try {
    await client.connect()
    await migrateToLatest(client)
    await addOrganization(client, [key, ownKey])
    await addBrands(client, today)
    await refreshAll(client)
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: emulator.url,
    /** The key of the command. */
    key,
    today,
    startDate,
    read,
    /** Runs SQL statements and brings the daily rows up to date. */
    change: async (sql: string) => {
      await client.query(sql)
      await refreshAll(client)
    },
    close,
  }
}
