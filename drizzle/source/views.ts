import { answerMentions } from '../tables/answer-mentions.ts'
import { answers } from '../tables/answers.ts'
import { apiKeys } from '../tables/api-keys.ts'
import { brands } from '../tables/brands.ts'
import { citations } from '../tables/citations.ts'
import { competitors } from '../tables/competitors.ts'
import { markets } from '../tables/markets.ts'
import { memberships } from '../tables/memberships.ts'
import { models } from '../tables/models.ts'
import { prompts } from '../tables/prompts.ts'
import { recommendations } from '../tables/recommendations.ts'
import { sentimentPhrases } from '../tables/sentiment-phrases.ts'
import { subscriptions } from '../tables/subscriptions.ts'
import { source } from './schema.ts'

// The project reads the application's tables only through these views. An application with other names replaces them
// (`create or replace view`). Postgres requires the same columns, in this order, with the same types.

/** A brand; `active` is whether it can be read. */
export const sourceBrands = source.view('brands').as((query) =>
  query
    .select({
      id: brands.id,
      organization_id: brands.organization_id,
      name: brands.name,
      display_name: brands.display_name,
      url: brands.url,
      site_url: brands.site_url,
      industry: brands.industry,
      aliases: brands.aliases,
      active: brands.active,
      created_at: brands.created_at,
    })
    .from(brands),
)

/** A competitor of a brand; `active` is whether it is tracked. */
export const sourceCompetitors = source.view('competitors').as((query) =>
  query
    .select({
      id: competitors.id,
      brand_id: competitors.brand_id,
      name: competitors.name,
      aliases: competitors.aliases,
      active: competitors.active,
    })
    .from(competitors),
)

export const sourceMarkets = source
  .view('markets')
  .as((query) => query.select({ id: markets.id, name: markets.name }).from(markets))

export const sourceModels = source
  .view('models')
  .as((query) => query.select({ id: models.id, provider: models.provider }).from(models))

/** A prompt; its answers count while `retired_at` is null and `counts_in_metrics` is true. */
export const sourcePrompts = source.view('prompts').as((query) =>
  query
    .select({
      id: prompts.id,
      brand_id: prompts.brand_id,
      counts_in_metrics: prompts.counts_in_metrics,
      retired_at: prompts.retired_at,
    })
    .from(prompts),
)

/** One answer of a model to a prompt; it counts while `error` is null. */
export const sourceAnswers = source.view('answers').as((query) =>
  query
    .select({
      id: answers.id,
      prompt_id: answers.prompt_id,
      model_id: answers.model_id,
      market_id: answers.market_id,
      answered_at: answers.answered_at,
      error: answers.error,
    })
    .from(answers),
)

/** A name that an answer mentions. */
export const sourceAnswerMentions = source
  .view('answer_mentions')
  .as((query) =>
    query.select({ answer_id: answerMentions.answer_id, name: answerMentions.name }).from(answerMentions),
  )

/** A page that an answer cites. */
export const sourceCitations = source.view('citations').as((query) =>
  query
    .select({
      answer_id: citations.answer_id,
      url: citations.url,
      domain: citations.domain,
      owned: citations.owned,
      recorded_at: citations.recorded_at,
    })
    .from(citations),
)

/** A phrase of an answer about the brand. */
export const sourceSentimentPhrases = source.view('sentiment_phrases').as((query) =>
  query
    .select({
      answer_id: sentimentPhrases.answer_id,
      polarity: sentimentPhrases.polarity,
      confidence: sentimentPhrases.confidence,
    })
    .from(sentimentPhrases),
)

/** Whether an answer recommends a competitor, or the brand where `competitor_id` is null. */
export const sourceRecommendations = source.view('recommendations').as((query) =>
  query
    .select({
      answer_id: recommendations.answer_id,
      competitor_id: recommendations.competitor_id,
      recommended: recommendations.recommended,
    })
    .from(recommendations),
)

/** A user's role in an organization: owner, admin, or anything else. */
export const sourceMemberships = source.view('memberships').as((query) =>
  query
    .select({
      organization_id: memberships.organization_id,
      user_id: memberships.user_id,
      role: memberships.role,
    })
    .from(memberships),
)

/** An organization's plan; it counts while `status` is active. */
export const sourceSubscriptions = source.view('subscriptions').as((query) =>
  query
    .select({
      organization_id: subscriptions.organization_id,
      plan: subscriptions.plan,
      status: subscriptions.status,
    })
    .from(subscriptions),
)

/** The keys: the one view that is written to as well, by `npm run keys`. */
export const sourceApiKeys = source.view('api_keys').as((query) => query.select().from(apiKeys))
