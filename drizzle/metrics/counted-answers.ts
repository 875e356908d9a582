import { sql } from 'drizzle-orm'
import { date, text, uuid } from 'drizzle-orm/pg-core'
import { metrics } from './schema.ts'

/** The answers that count, each with its brand and its UTC day: the one filter that every metric shares. */
export const countedAnswers = metrics
  .view('counted_answers', {
    answer_id: uuid(),
    brand_id: uuid(),
    date: date(),
    model_id: text(),
    market_id: uuid(),
  })
  .as(sql`
    select
      answers.id as answer_id,
      prompts.brand_id,
      (answers.answered_at at time zone 'UTC')::date as date,
      answers.model_id,
      answers.market_id
    from export_source.answers
    join export_source.prompts on prompts.id = answers.prompt_id
    where answers.id is not null
      and answers.answered_at is not null
      and answers.error is null
      and prompts.retired_at is null
      and prompts.counts_in_metrics
  `)
