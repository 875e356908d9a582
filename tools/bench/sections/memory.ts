import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { findOperations } from '../../../bundle/find-workers.ts'
import { startEmulator } from '../../../emulator/start.ts'
import { BASE } from '../../../lib/app.ts'
import { peakHeap } from '../../soak/heap.ts'
import { inDatabase } from '../database.ts'
import { connect, fetchBody } from '../http.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { LAST_DAY } from '../volume.ts'

const ROWS = 1001
const REQUESTS = 3
const LIMIT_MIB = 48

/** Texts of \`$2\` bytes that take the most bytes of JSON, or of a heap, or whose JSON is as long as they are. */
const TEXTS: Readonly<Record<string, string>> = {
  ASCII: `rpad(n::text, $2, 'a')`,
  'ASCII and one 😀': `rpad(n::text || '😀', $2 - 3, 'a')`,
  'control characters': `rpad(n::text, $2, e'\\x01')`,
  'control characters and one 😀': `rpad(n::text || '😀', $2 - 3, e'\\x01')`,
  'quotes and one 😀': `rpad(n::text || '😀', $2 - 3, '"')`,
  'DEL and one 😀': `rpad(n::text || '😀', $2 - 3, e'\\x7f')`,
  'three-byte characters': `rpad(n::text, $2 / 3, '語')`,
}

/** Bytes of each text of a stored row. A text in a key is also in the cursor, whose length headers limit. */
const BYTES = { key: 1_000, other: 8_192 }

/** The largest heap of a Worker while it serves the pages that need most. */
export const section: Section = (setting) =>
  inDatabase(setting.serverUrl, async (client, databaseUrl) => {
    const { organizationId, key } = await addTenant(client)
    const operations = (await findOperations()).filter(({ kind }) => kind === 'metric')
    const {
      url,
      inspectorUrl: inspector = '',
      close,
    } = await startEmulator({
      databaseUrl,
      host: '127.0.0.1',
      port: 0,
      inspectorPort: 0,
      crons: false,
    })
    const rows: (string | number)[][] = []
    try {
      for (const { path } of operations) {
        for (const [name, text] of Object.entries(TEXTS)) {
          const query = await fill(client, { organizationId, path, text })
          const pool = connect(url, 1)
          const request = {
            path: `${BASE}${path}?${query}`,
            headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
          }
          let body: Buffer = Buffer.alloc(0)
          let peak = 0
          for (let sent = 0; sent < REQUESTS; sent += 1) {
            const send = async () => {
              body = await fetchBody(pool, request)
            }
            peak = Math.max(peak, await peakHeap({ url, inspector }, path, send))
          }
          await pool.close()
          const { data }: { data: unknown[] } = JSON.parse(body.toString())
          setting.report(`${path}: ${name}: ${figure(peak)} MiB`)
          rows.push([path, name, data.length, body.length / 1024 ** 2, peak])
        }
      }
    } finally {
      await close()
    }
    return [
      {
        title: 'Largest heap of a Worker that serves the largest pages, MiB',
        columns: ['Worker', 'texts', 'rows of the page', 'body', 'heap'],
        rows,
        note: `The most of ${REQUESTS} requests, each after a collection, with the garbage of the request. The stored rows have texts of 8,192 bytes, or 1,000 in a key. Limit: ${LIMIT_MIB} MiB.`,
      },
    ]
  })

type Fill = { readonly organizationId: string; readonly path: string; readonly text: string }

/** Fills a metric's stored rows of a new brand with texts, and returns the query of its page. */
async function fill(client: ClientBase, { organizationId, path, text }: Fill): Promise<URLSearchParams> {
  const {
    rows: [brand],
  } = await client.query<{ id: string }>(
    `insert into brands (organization_id, name, display_name, url, site_url)
     values ($1, 'Acme', 'Acme', 'acme.example', 'https://acme.example') returning id`,
    [organizationId],
  )
  const table = path.slice(1).replaceAll('-', '_')
  const { rows: columns } = await client.query<{ name: string; type: string; in_key: boolean }>(
    `select attname as name, format_type(atttypid, null) as type,
       exists (select from pg_index where indrelid = attrelid and indisprimary and attnum = any (indkey)) as in_key
     from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum`,
    [`daily.${table}`],
  )
  const textOf = (bytes: number) => text.replaceAll('$2', String(bytes))
  const VALUES: Readonly<Record<string, (isKey: boolean) => string>> = {
    uuid: () => 'gen_random_uuid()',
    date: () => `date '${LAST_DAY}' - n`,
    text: (isKey) => textOf(isKey ? BYTES.key : BYTES.other),
    integer: () => 'n',
    numeric: () => '12.5',
    boolean: () => 'true',
  }
  await client.query(
    `insert into daily.${table} (${columns.map(({ name }) => name)})
     select ${columns.map(({ name, type, in_key }) => (name === 'brand_id' ? '$1::uuid' : VALUES[type]?.(in_key)))}
     from generate_series(1, ${ROWS}) as n`,
    [brand?.id],
  )
  return new URLSearchParams({ brandId: brand?.id ?? '', fromDate: '2000-01-01', toDate: LAST_DAY })
}
