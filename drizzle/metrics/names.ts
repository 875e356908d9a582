import { sql } from 'drizzle-orm'
import { text, uuid } from 'drizzle-orm/pg-core'
import { metrics } from './schema.ts'

// Lateral, since a GROUP BY would read all brands for each batch of the refresh.
// `unnest` flattens the aliases: an application's column may hold arrays of two dimensions, which `||` rejects.

/** The folded names under which an answer mentions a brand: its name, its display name, its aliases. */
export const brandNames = metrics.view('brand_names', { brand_id: uuid(), names: text().array() }).as(sql`
    select brands.id as brand_id, folded.names
    from export_source.brands
    cross join lateral (
      select array_agg(metrics.fold(known.name)) as names
      from unnest(array[brands.name, brands.display_name] || array(select unnest(brands.aliases))) as known(name)
    ) as folded
  `)

/** The folded names under which an answer mentions a tracked competitor: its name and its aliases. */
export const competitorNames = metrics
  .view('competitor_names', { competitor_id: uuid(), brand_id: uuid(), name: text(), names: text().array() })
  .as(sql`
    select competitors.id as competitor_id, competitors.brand_id, competitors.name, folded.names
    from export_source.competitors
    cross join lateral (
      select array_agg(metrics.fold(known.name)) as names
      from unnest(array[competitors.name] || array(select unnest(competitors.aliases))) as known(name)
    ) as folded
    where competitors.active
  `)

/** SQL of the relation `mentioned`: the folded names that an answer of `counted` mentions. */
export const mentionedNames = sql`cross join lateral (
      select array_agg(metrics.fold(answer_mentions.name)) as names
      from export_source.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned`
