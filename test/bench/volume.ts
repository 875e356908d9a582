import type { ClientBase } from 'pg'

/** How much a brand of a benchmark has: answers spread evenly over days that end with `lastDay`. */
export type Volume = {
  readonly answers: number
  readonly days: number
  readonly citationsPerAnswer: number
  readonly lastDay: string
}

/** Fills a brand with answers and all that belongs to them, in one bulk statement a table. */
export async function fill(client: ClientBase, brandId: string, volume: Volume): Promise<void> {
  const { answers, days, citationsPerAnswer, lastDay } = volume
  await client.query(`insert into models values ('bench-model', 'bench') on conflict do nothing`)
  await client.query(`insert into markets values (md5('bench')::uuid, 'bench') on conflict do nothing`)
  await client.query(
    `insert into prompts (brand_id, text) select $1::uuid, 'Prompt ' || n from generate_series(1, 40) as n`,
    [brandId],
  )
  await client.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select md5($1::text || n)::uuid, prompt.ids[1 + n % 40], 'bench-model', md5('bench')::uuid,
       ($3::date - (n * $4::int / $2::int)) + (n % 86400) * interval '1 second'
     from generate_series(0, $2::int - 1) as n,
       (select array_agg(id) as ids from prompts where brand_id = $1::text::uuid) as prompt`,
    [brandId, answers, lastDay, days],
  )
  await client.query(
    `insert into answer_mentions (answer_id, name)
     select md5($1::text || n)::uuid, name from generate_series(0, $2::int - 1) as n,
       unnest(case n % 3 when 0 then array['Acme', 'Rival'] when 1 then array['rival'] else array['ACME'] end) as name`,
    [brandId, answers],
  )
  await client.query(
    `insert into citations (answer_id, url, domain, owned, recorded_at)
     select md5($1::text || n)::uuid, 'https://site-' || u % 97 || '.example/an/article/of/some/length/' || md5(u::text), 'site-' || u % 97 || '.example',
       u % 97 = 0, ($4::date - (n * $5::int / $2::int)) + (n % 86400) * interval '1 second'
     from generate_series(0, $2::int - 1) as n, generate_series(1, $3::int) as c,
       lateral (select (3000 * power((('x' || substr(md5(n || '-' || c), 1, 7))::bit(28)::int) / 268435456.0, 3))::int as u) as pick`,
    [brandId, answers, citationsPerAnswer, lastDay, days],
  )
  await client.query(
    `insert into sentiment_phrases (answer_id, polarity, confidence)
     select md5($1::text || n)::uuid, (array['positive', 'neutral', 'negative'])[1 + n % 3], (n % 10000) / 10000.0
     from generate_series(0, $2::int - 1) as n`,
    [brandId, answers],
  )
}
