import { setTimeout as delay } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { type Emulator, startEmulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { BUDGET } from '../../lib/rate-limit.ts'
import { inDatabase } from './database.ts'
import { FIRST_DAY, fillMillion } from './million.ts'
import type { Setting } from './section.ts'
import { addTenant } from './tenant.ts'
import { LAST_DAY } from './volume.ts'

/** All Workers, over a million daily rows of which one brand has almost half. */
export type BrandYear = {
  readonly client: ClientBase
  readonly key: string
  readonly brandId: string
  readonly emulator: Emulator
  /** Milliseconds to each server, and how many requests of the budget Workers have taken. */
  readonly state: { neon: number; upstash: number; consumed: number }
}

/** Starts the service over a year of a brand's rows, with a budget that always has requests left. */
export const withBrandYear = <Result>(
  { serverUrl, sized, report }: Setting,
  work: (year: BrandYear) => Promise<Result>,
): Promise<Result> =>
  inDatabase(serverUrl, async (client, databaseUrl) => {
    report('a million daily rows')
    const tenant = await addTenant(client)
    const brandId = await fillMillion(client, tenant, sized)
    await listDays(client, { brandId, first: FIRST_DAY, last: LAST_DAY })
    const { state, intercept } = startCounting()
    const emulator = await startEmulator({
      databaseUrl,
      host: '127.0.0.1',
      port: 0,
      inspectorPort: 0,
      crons: false,
      intercept,
    })
    try {
      return await work({ client, key: tenant.key, brandId, emulator, state })
    } finally {
      await emulator.close()
    }
  })

type Days = { readonly brandId: string; readonly first: string; readonly last: string }

/** Lists days of a brand's rows as refreshes do. A file takes the number of its rows from there. */
export const listDays = (client: ClientBase, { brandId, first, last }: Days) =>
  client.query(
    `select daily.list_changes(array_agg('citation_share'::text), array_agg($1::uuid), array_agg(day::date))
     from generate_series($2::date, $3::date, interval '1 day') as day`,
    [brandId, first, last],
  )

function startCounting() {
  const state = { neon: 0, upstash: 0, consumed: 0 }
  const intercept: Intercept = async (service, request) => {
    const ms = state[service]
    if (ms > 0) await delay(ms)
    if (service === 'neon') return undefined
    // The last argument of the limiter's script.
    state.consumed += Number((await request.json()).at(-1))
    const refill = Date.now() + BUDGET.refill.seconds * 1000
    return Response.json({ result: [BUDGET.requests - 1, refill, BUDGET.requests] })
  }
  return { state, intercept }
}
