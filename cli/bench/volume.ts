import type { ClientBase } from 'pg'

/** The last day of the data. It is fixed, so that two runs measure the same rows. */
export const LAST_DAY = '2026-11-20'

/** The volume of a brand: answers spread evenly over the days that end with {@link LAST_DAY}. */
export type Volume = {
  readonly brandId: string
  readonly answers: number
  readonly days: number
  /** The least and the most citations of an answer. */
  readonly citations: readonly [number, number]
  /** The schema of the tables; `public` by default. */
  readonly into?: string
}

/** URLs of a brand. Answers cite a few of them often and most of them rarely. */
const URLS = 4000

/** The tables that {@link fill} writes, parents first. */
export const TABLES = ['answers', 'answer_mentions', 'citations', 'sentiment_phrases', 'recommendations']

/** The time of answer number `n`, of `$2` answers over `$3` days. */
const AT = `((date '${LAST_DAY}' - $3::int + 1 + (n::bigint * $3::int / $2::int)::int)::timestamp
  + n % 86400 * interval '1 second') at time zone 'UTC'`

/** Adds answers and all their details to a brand, with one statement per table. */
export async function fill(client: ClientBase, volume: Volume): Promise<void> {
  await fillCitations(client, volume)
  const { brandId, answers, into = 'public' } = volume
  const numbered = `from generate_series(0, $2::int - 1) as n`
  await client.query(
    `insert into ${into}.answer_mentions (answer_id, name)
     select md5($1::text || n)::uuid, name ${numbered},
       unnest(case n % 3 when 0 then array['Acme', 'Rival 1'] when 1 then array['rival 2'] else array['ACME', 'Rival 3'] end) as name`,
    [brandId, answers],
  )
  await client.query(
    `insert into ${into}.sentiment_phrases (answer_id, polarity, confidence)
     select md5($1::text || n)::uuid, (array['positive', 'neutral', 'negative'])[1 + n % 3], n % 10000 / 10000.0 ${numbered}`,
    [brandId, answers],
  )
  await client.query(
    `insert into ${into}.recommendations (answer_id, competitor_id, recommended)
     select md5($1::text || n)::uuid, judged.id, n % 3 = 0 ${numbered},
       unnest(array[null, (select id from competitors where brand_id = $1::text::uuid and name = 'Rival 1')]) as judged(id)`,
    [brandId, answers],
  )
}

/** Adds answers to a brand, with their citations only. */
export async function fillCitations(client: ClientBase, volume: Volume): Promise<void> {
  const { brandId, answers, days, citations, into = 'public' } = volume
  const [least, most] = citations
  await client.query(
    `insert into models select 'model-' || n, 'Provider ' || n from generate_series(0, 4) as n on conflict do nothing`,
  )
  await client.query(
    `insert into markets select md5('market' || n)::uuid, 'Market ' || n from generate_series(0, 3) as n on conflict do nothing`,
  )
  await client.query(
    `insert into ${into}.answers (id, prompt_id, model_id, market_id, answered_at)
     select md5($1::text || n)::uuid, prompt.ids[1 + n % cardinality(prompt.ids)], 'model-' || n % 5, md5('market' || n / 5 % 4)::uuid, ${AT}
     from generate_series(0, $2::int - 1) as n,
       (select array_agg(id) as ids from prompts where brand_id = $1::text::uuid) as prompt`,
    [brandId, answers, days],
  )
  await client.query('select setseed(0.5)')
  await client.query(
    `with pool as materialized (
       select u, 'https://www.site-' || u % 97 || '.example/articles/' || md5(u::text) as url,
         'site-' || u % 97 || '.example' as domain, u % 97 = 0 as owned
       from generate_series(0, ${URLS - 1}) as u
     ), drawn as (
       select md5($1::text || n)::uuid as answer_id, ${AT} as at, floor(${URLS} * power(random(), 3))::int as u
       from generate_series(0, $2::int - 1) as n, generate_series(1, $4::int + n % ($5::int - $4::int + 1))
     )
     insert into ${into}.citations (answer_id, url, domain, owned, recorded_at)
     select answer_id, url, domain, owned, at + interval '10 minutes' from drawn join pool using (u)`,
    [brandId, answers, days, least, most],
  )
}
