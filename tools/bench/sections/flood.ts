import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { readWranglerFile } from '../../../bundle/wrangler-config.ts'
import { NO_OUTER_LIMIT } from '../../../emulator/start.ts'
import { mintApiKey } from '../../../lib/access/api-key.ts'
import { BASE } from '../../../lib/app.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { type Service, withService } from '../service.ts'
import { addBrand, addTenant } from '../tenant.ts'

const REQUESTS = 1000
const CONNECTIONS = 10

type Headers = Readonly<Record<string, string>>

/** A flood: its path, and the headers of each request. No two requests share a budget. */
type Flood = { readonly path: string; readonly headers: () => Headers }

/** What reaches the servers of a flood. */
type Load = { readonly statements: number; readonly redis: number; readonly rejected: number }

/** What floods of one minute from one address cost Postgres and Redis, with the outer limit and without it. */
export const section: Section = ({ serverUrl, report }) =>
  inDatabase(serverUrl, async (client, databaseUrl) => {
    const addReader = async () => {
      const { organizationId, key } = await addTenant(client)
      return { key, page: `${BASE}/visibility?brandId=${await addBrand(client, organizationId)}` }
    }
    const [{ key, page }, other] = [await addReader(), await addReader()]
    const cookie = () => ({ Cookie: `session=${randomUUID()}` })
    const floods: Readonly<Record<string, Flood>> = {
      'cookies, without a key': { path: page, headers: cookie },
      '`Authorization`, without a key': { path: page, headers: () => ({ Authorization: randomUUID() }) },
      'cookies, keys of another form': {
        path: page,
        headers: () => ({ ...cookie(), 'X-API-Key': randomBytes(32).toString('hex') }),
      },
      'cookies, unknown keys': { path: page, headers: () => ({ ...cookie(), 'X-API-Key': mintApiKey() }) },
      '`User-Agent`, on `/healthz`': {
        path: `${BASE}/healthz`,
        headers: () => ({ 'User-Agent': randomUUID() }),
      },
      'cookies, one valid key': { path: page, headers: () => ({ ...cookie(), 'X-API-Key': key }) },
      'addresses, one valid key': {
        path: other.page,
        headers: () => ({ 'X-API-Key': other.key, 'CF-Connecting-IP': `2001:db8:${group()}:${group()}::1` }),
      },
    }
    const measure = (outerLimit: number) =>
      withService({ databaseUrl, outerLimit }, async (service) => {
        const loads = new Map<string, Load>()
        for (const [index, [name, flood]] of Object.entries(floods).entries()) {
          report(`${name}, ${outerLimit} requests a minute`)
          loads.set(name, await send(service, flood, `192.0.2.${index}`))
        }
        return loads
      })
    const [{ simple }] = (await readWranglerFile()).ratelimits
    const without = await measure(NO_OUTER_LIMIT)
    const limited = await measure(simple.limit)
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
        rows: [...limited].map(([name, { statements, redis, rejected }]) => [
          name,
          without.get(name)?.statements ?? 0,
          statements,
          without.get(name)?.redis ?? 0,
          redis,
          rejected,
        ]),
        note: 'Each request has a budget of its own in Redis. All but the last flood come from one address. 429: responses of the outer limit, and of the limit of 401s.',
      },
    ]
  })

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
