import { createHash, randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'

export type Values = Readonly<Record<string, unknown>>

/** A key for tests, known in full. */
export type Key = { readonly id: string; readonly key: string }

/** A connection to the service's database for one test file. */
export function database(): pg.Pool {
  const pool = new pg.Pool({ connectionString: inject('databaseUrl'), max: 4 })
  afterAll(() => pool.end())
  return pool
}

/** Adds rows by plain SQL, as the application does; all rows have the same columns. */
export async function insert(
  db: pg.Pool | pg.ClientBase,
  table: string,
  rows: readonly Values[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys(first)
  for (let from = 0; from < rows.length; from += 1000) {
    const some = rows.slice(from, from + 1000)
    const tuples = some.map(
      (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`)})`,
    )
    await db.query(
      `insert into ${table} (${columns}) values ${tuples}`,
      some.flatMap((row) => columns.map((column) => row[column])),
    )
  }
}

/** Brings the daily tables up to date. */
export async function refresh(db: pg.Pool): Promise<void> {
  const client = await db.connect()
  try {
    await refreshAll(client)
  } finally {
    client.release()
  }
}

/** Brings the daily tables up to date in a session whose time zone is another than UTC. */
export async function refreshIn(db: pg.Pool, zone: string): Promise<void> {
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(`set local time zone '${zone}'`)
    await client.query(`select daily.refresh(null, '1 min', 1000) from daily.resolve()`)
    await client.query('commit')
  } finally {
    client.release()
  }
}

export type Organization = { readonly id: string; readonly owner: string }

/** An organization with an owner and a subscription. */
export async function organization(
  db: pg.Pool,
  subscription: { plan: string; status?: string } | null = { plan: 'enterprise' },
): Promise<Organization> {
  const id = randomUUID()
  const owner = randomUUID()
  await insert(db, 'organizations', [{ id, name: 'An organization' }])
  await insert(db, 'users', [{ id: owner, email: `${owner}@mail.example` }])
  await insert(db, 'memberships', [{ organization_id: id, user_id: owner, role: 'owner' }])
  if (subscription) {
    const { plan, status = 'active' } = subscription
    await insert(db, 'subscriptions', [{ organization_id: id, plan, status }])
  }
  return { id, owner }
}

/** An export key of an organization's owner. */
export async function exportKey(db: pg.Pool, { id, owner }: Organization, values: Values = {}): Promise<Key> {
  const key = `svc_live_${randomBytes(32).toString('hex')}`
  const row = {
    id: randomUUID(),
    organization_id: id,
    created_by: owner,
    scope: 'export',
    label: 'A key',
    key_hash: createHash('sha256').update(key).digest(),
    last_four: key.slice(-4),
    ...values,
  }
  await insert(db, 'api_keys', [row])
  return { id: row.id, key }
}

/** A brand of an organization; returns its id. */
export async function brand(db: pg.Pool, { id }: Organization, values: Values = {}): Promise<string> {
  const row = {
    id: randomUUID(),
    organization_id: id,
    name: 'Acme',
    display_name: 'Acme Corporation',
    url: 'acme.example',
    site_url: 'https://acme.example',
    industry: null,
    ...values,
  }
  await insert(db, 'brands', [row])
  return row.id
}

/** Brands of an organization that are named 0 to 6 in turn, so that many have the same name. */
export const manyBrands = (db: pg.Pool, { id }: Organization, brands: number) =>
  db.query(
    `insert into brands (organization_id, name, display_name, url, site_url)
     select $1, number % 7, number, number, number from generate_series(1, $2::int) as number`,
    [id, brands],
  )

export type Place = { readonly model: string; readonly market: string }

/** A model and a market of a test's own. */
export async function place(db: pg.Pool): Promise<Place> {
  const model = `model-${randomUUID()}`
  const market = randomUUID()
  await insert(db, 'models', [{ id: model, provider: 'A provider' }])
  await insert(db, 'markets', [{ id: market, name: 'A market' }])
  return { model, market }
}

/** A prompt of a brand; returns its id. */
export async function prompt(db: pg.Pool, brandId: string, values: Values = {}): Promise<string> {
  const row = { id: randomUUID(), brand_id: brandId, text: 'Which is best?', ...values }
  await insert(db, 'prompts', [row])
  return row.id
}

/** The contents of an answer; times are instants such as `2026-10-01T12:00:00Z`. */
export type Said = {
  readonly prompt: string
  readonly model: string
  readonly market: string
  readonly at: string
  readonly error?: string
  readonly mentions?: readonly string[]
  readonly citations?: readonly {
    url: string
    domain?: string | null
    owned?: boolean
    recordedAt?: string
  }[]
  readonly phrases?: readonly { polarity: string; confidence: string }[]
  readonly judged?: readonly { competitor: string | null; recommended: boolean }[]
}

/** Adds an answer with all that belongs to it; returns its id. */
export async function answer(db: pg.Pool, said: Said): Promise<string> {
  const id = randomUUID()
  await insert(db, 'answers', [
    {
      id,
      prompt_id: said.prompt,
      model_id: said.model,
      market_id: said.market,
      answered_at: said.at,
      error: said.error ?? null,
    },
  ])
  await insert(
    db,
    'answer_mentions',
    (said.mentions ?? []).map((name) => ({ answer_id: id, name })),
  )
  await insert(
    db,
    'citations',
    (said.citations ?? []).map(({ url, domain = 'site.example', owned = false, recordedAt = said.at }) => ({
      answer_id: id,
      url,
      domain,
      owned,
      recorded_at: recordedAt,
    })),
  )
  await insert(
    db,
    'sentiment_phrases',
    (said.phrases ?? []).map((phrase) => ({ answer_id: id, ...phrase })),
  )
  await insert(
    db,
    'recommendations',
    (said.judged ?? []).map(({ competitor, recommended }) => ({
      answer_id: id,
      competitor_id: competitor,
      recommended,
    })),
  )
  return id
}
