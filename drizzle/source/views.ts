import { pgSchema } from 'drizzle-orm/pg-core'
import {
  answerMentions,
  answers,
  apiKeys,
  brands,
  citations,
  competitors,
  markets,
  memberships,
  models,
  prompts,
  recommendations,
  sentimentPhrases,
  subscriptions,
} from '../tables/application.ts'

/** Views over the application's tables, the only way in which the project reads them. */
export const source = pgSchema('export_source')

// The project reads the application's tables only through these views. An application with other names replaces them
// (`create or replace view`). Postgres requires the same columns, in this order, with the same types.

const pick = <Table extends object, Name extends keyof Table>(
  table: Table,
  ...names: Name[]
): Pick<Table, Name> => Object.fromEntries(names.map((name): readonly unknown[] => [name, table[name]]))

/** A brand; `active` is whether it can be read. */
export const sourceBrands = source.view('brands').as((query) => query.select().from(brands))

/** A competitor of a brand; `active` is whether it is tracked. */
export const sourceCompetitors = source.view('competitors').as((query) => {
  const columns = pick(competitors, 'id', 'brand_id', 'name', 'aliases', 'active')
  return query.select(columns).from(competitors)
})

export const sourceMarkets = source.view('markets').as((query) => query.select().from(markets))

export const sourceModels = source.view('models').as((query) => query.select().from(models))

/** A prompt; its answers count while `retired_at` is null and `counts_in_metrics` is true. */
export const sourcePrompts = source.view('prompts').as((query) => {
  const columns = pick(prompts, 'id', 'brand_id', 'counts_in_metrics', 'retired_at')
  return query.select(columns).from(prompts)
})

/** One answer of a model to a prompt; it counts while `error` is null. */
export const sourceAnswers = source.view('answers').as((query) => query.select().from(answers))

/** A name that an answer mentions. */
export const sourceAnswerMentions = source
  .view('answer_mentions')
  .as((query) => query.select().from(answerMentions))

/** A page that an answer cites. */
export const sourceCitations = source.view('citations').as((query) => {
  const columns = pick(citations, 'answer_id', 'url', 'domain', 'owned', 'recorded_at')
  return query.select(columns).from(citations)
})

/** A phrase of an answer about the brand. */
export const sourceSentimentPhrases = source.view('sentiment_phrases').as((query) => {
  const columns = pick(sentimentPhrases, 'answer_id', 'polarity', 'confidence')
  return query.select(columns).from(sentimentPhrases)
})

/** Whether an answer recommends a competitor, or the brand where `competitor_id` is null. */
export const sourceRecommendations = source
  .view('recommendations')
  .as((query) => query.select().from(recommendations))

/** A user's role in an organization: owner, admin, or anything else. */
export const sourceMemberships = source.view('memberships').as((query) => {
  const columns = pick(memberships, 'organization_id', 'user_id', 'role')
  return query.select(columns).from(memberships)
})

/** An organization's plan; it counts while `status` is active. */
export const sourceSubscriptions = source.view('subscriptions').as((query) => {
  const columns = pick(subscriptions, 'organization_id', 'plan', 'status')
  return query.select(columns).from(subscriptions)
})

/** The keys: the one view that is written to as well, by `npm run keys`. */
export const sourceApiKeys = source.view('api_keys').as((query) => query.select().from(apiKeys))
