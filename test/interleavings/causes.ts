import type pg from 'pg'
import { METRICS } from '../sync/compare-copy.ts'

/** A change of the rows of a day that a step made, by the kinds that it logged. */
type Owed = { readonly day: string; readonly kinds: readonly string[]; readonly since: string }

/** The causes of a day as they are listed. */
type Listed = { readonly changedAt: string; readonly causes: ReadonlyMap<string, string> }

const NOT_LISTED: Listed = { changedAt: '', causes: new Map() }

/** Whether a step can take away the rows in which an earlier change shows, so that nothing of it is left to name. */
const canHide = (step: string, kinds: readonly string[]): boolean =>
  /^(drop|truncate)/.test(step) ||
  (/^(move|ask|place|fail)/.test(step) && kinds.every((kind) => ['models', 'markets'].includes(kind)))

/** SQL of a text for each day of each metric, which tells whether its rows differ. */
const contents = (schema: string) =>
  METRICS.map(({ name }) => {
    const metric = name.replaceAll('-', '_')
    return `select '${name} ' || brand_id || ' ' || date as day, md5(string_agg(to_jsonb(metric)::text, ' ' order by to_jsonb(metric)::text)) as content
     from ${schema}.${metric} as metric group by brand_id, date`
  }).join(' union all ')

const LOGGED = `
  select count(*), case
      when num_nonnulls(brand_id, prompt_id, answer_id, model_id, market_id) = 0 then 'recomputed'
      when source = 'answer_mentions' then 'mentions'
      when source = 'sentiment_phrases' then 'sentiment'
      else source end as kind
  from daily.change_log group by kind`

/**
 * Follows a history, step by step, and finds the days whose causes are not those that reached them: a kind that changed
 * the rows of a day and is not named from the change on, or one that is named without a change of that kind since.
 */
export async function followCauses(client: pg.Client) {
  const wrong: unknown[] = []
  let step = 0
  let logged = new Map<string, number>()
  const resolvedAt = new Map<string, number>()
  const namedAt = new Map<string, number>()
  let defined = await texts(client, contents('metrics'))
  let listed = await listedDays(client)
  let owed: Owed[] = []
  const due: (Owed & { readonly from: string })[] = []

  /** Call it after each step. A relisted or restamped list has causes of its own. */
  async function afterStep(kind: string): Promise<void> {
    step += 1
    const { rows } = await client.query(LOGGED)
    const now = new Map<string, number>(rows.map((row) => [row.kind, Number(row.count)]))
    const added = [...now].filter(([name, count]) => count > (logged.get(name) ?? 0)).map(([name]) => name)
    for (const [name, count] of logged) if (count > (now.get(name) ?? 0)) resolvedAt.set(name, step)
    if (kind === 'relist') resolvedAt.set('relisted', step)
    logged = now

    const previous = listed
    listed = await listedDays(client)
    for (const [day, { changedAt, causes }] of listed) {
      const before = previous.get(day) ?? NOT_LISTED
      if ([...causes.values()].sort().at(-1) !== changedAt) wrong.push({ step, day, changedAt, causes })
      for (const [name, at] of causes) {
        const key = `${day} ${name}`
        if (before.causes.get(name) === at) continue
        if (kind !== 'setClockBack' && (resolvedAt.get(name) ?? 0) <= (namedAt.get(key) ?? 0))
          wrong.push({ step, day, named: name, at })
        namedAt.set(key, step)
      }
    }

    const after = await texts(client, contents('metrics'))
    const days = new Set(
      [...after.keys(), ...defined.keys()].filter((day) => after.get(day) !== defined.get(day)),
    )
    owed = owed.map((change) =>
      (kind === 'truncate' || days.has(change.day)) && canHide(kind, change.kinds)
        ? { ...change, kinds: [...change.kinds, ...added] }
        : change,
    )
    if (added.length > 0)
      for (const day of days) owed.push({ day, kinds: added, since: previous.get(day)?.changedAt ?? '' })
    defined = after
    const stored = await texts(client, contents('daily'))
    owed = owed.filter((change) => {
      const { changedAt } = listed.get(change.day) ?? NOT_LISTED
      if (changedAt > change.since) due.push({ ...change, from: changedAt })
      return changedAt <= change.since && stored.get(change.day) !== after.get(change.day)
    })
  }

  /** Returns what is wrong once all days are computed. */
  function unnamed(): unknown[] {
    const lost = due.filter(({ day, kinds, from }) => {
      const { causes } = listed.get(day) ?? NOT_LISTED
      return !kinds.some((name) => (causes.get(name) ?? '') >= from)
    })
    return [...wrong, ...lost, ...owed]
  }

  return { afterStep, unnamed }
}

async function texts(client: pg.Client, sql: string): Promise<Map<string, string>> {
  const { rows } = await client.query<{ day: string; content: string }>(sql)
  return new Map(rows.map(({ day, content }) => [day, content]))
}

async function listedDays(client: pg.Client): Promise<Map<string, Listed>> {
  const { rows } = await client.query<{ day: string; changedAt: string; causes: Record<string, string> }>(
    `select endpoint || ' ' || brand_id || ' ' || date as day, changed_at as "changedAt", causes from daily.changes`,
  )
  return new Map(
    rows.map(({ day, changedAt, causes }) => [day, { changedAt, causes: new Map(Object.entries(causes)) }]),
  )
}
