import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { BASE } from '../../../lib/http/app.ts'
import { mintApiKey } from '../../../lib/request/api-key.ts'
import { readWranglerFile } from '../../workers/wrangler-config.ts'
import { createDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { type Service, startService } from '../service.ts'
import { addBrands, addTenant } from '../tenant.ts'

const REQUESTS = 1000
const CONNECTIONS = 10

/** A flood: its path, and the headers of each request. No two requests share a rate limit. */
type Flood = {
  readonly name: string
  readonly path: string
  readonly headers: () => Readonly<Record<string, string>>
}

/** What reaches the servers of a flood. */
type Load = { readonly statements: number; readonly redis: number; readonly rejected: number }

/** What floods of one minute from one address cost Postgres and Redis, with the outer limit and without it. */
export const section: Section = async ({ serverUrl, report }) => {
  await using database = await createDatabase(serverUrl)
  const { client, url: databaseUrl } = database
  const addReader = async () => {
    const { organizationId, key } = await addTenant(client)
    return { key, path: `${BASE}/visibility?brandId=${await addBrands(client, organizationId, 1)}` }
  }
  const [{ key, path }, other] = [await addReader(), await addReader()]
  const cookie = () => ({ Cookie: `session=${randomUUID()}` })
  const withKey = (apiKey: string) => ({ ...cookie(), 'X-API-Key': apiKey })
  const floods: Flood[] = [
    { name: 'cookies, without a key', path, headers: cookie },
    { name: '`Authorization`, without a key', path, headers: () => ({ Authorization: randomUUID() }) },
    {
      name: 'cookies, keys of another form',
      path,
      headers: () => withKey(randomBytes(32).toString('hex')),
    },
    { name: 'cookies, unknown keys', path, headers: () => withKey(mintApiKey()) },
    {
      name: '`User-Agent`, on `/healthz`',
      path: `${BASE}/healthz`,
      headers: () => ({ 'User-Agent': randomUUID() }),
    },
    { name: 'cookies, one valid key', path, headers: () => withKey(key) },
    {
      name: 'addresses, one valid key',
      path: other.path,
      headers: () => ({ 'X-API-Key': other.key, 'CF-Connecting-IP': `2001:db8:${group()}:${group()}::1` }),
    },
  ]
  const [{ simple }] = (await readWranglerFile()).ratelimits
  await using open = await startService({ databaseUrl })
  await using limited = await startService({ databaseUrl, outerLimit: simple.limit })
  const rows: (string | number)[][] = []
  for (const [index, flood] of floods.entries()) {
    report(flood.name)
    const all = await send(open, flood, `192.0.2.${index}`)
    const passed = await send(limited, flood, `192.0.2.${index}`)
    rows.push([flood.name, all.statements, passed.statements, all.redis, passed.redis, passed.rejected])
  }
  return [
    {
      title: `What reaches the servers of ${figure(REQUESTS)} requests in a minute`,
      columns: [
        'random',
        'statements, no limit',
        `statements, ${simple.limit} a minute`,
        'Redis requests, no limit',
        `Redis requests, ${simple.limit} a minute`,
        '429',
      ],
      rows,
      note: 'Each request has a rate limit of its own in Redis. All but the last flood come from one address. 429: responses of the outer limit.',
    },
  ]
}

const group = () => (randomBytes(2).readUInt16BE() | 0x1000).toString(16)

/** Sends a flood within a minute of the binding's clock. */
async function send({ emulator }: Service, { path, headers }: Flood, address: string): Promise<Load> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 30_000) await sleep(left)
  const pool = new Pool(emulator.url, { connections: CONNECTIONS, pipelining: 1 })
  const before = emulator.subrequests()
  let [sent, rejected] = [0, 0]
  const one = async () => {
    for (; sent < REQUESTS; ) {
      sent += 1
      const own = { 'CF-Connecting-IP': address, ...headers() }
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers: own })
      await body.dump()
      if (statusCode === 429) rejected += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
  await pool.close()
  const after = emulator.subrequests()
  return { statements: after.neon - before.neon, redis: after.upstash - before.upstash, rejected }
}
