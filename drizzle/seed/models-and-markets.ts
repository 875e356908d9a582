import type { Client } from 'pg'
import { demoId } from './ids.ts'
import { insertRows } from './insert-rows.ts'

/** `bias` changes how often a model names brands. `citation_count` is its average number of cited pages, roughly. */
export const MODELS = [
  { id: 'gpt-5.2', provider: 'OpenAI', bias: 0.03, citation_count: 3 },
  { id: 'claude-opus-4-6', provider: 'Anthropic', bias: 0, citation_count: 2 },
  { id: 'gemini-3-pro', provider: 'Google', bias: 0.04, citation_count: 4 },
  { id: 'sonar-pro', provider: 'Perplexity', bias: 0.09, citation_count: 6 },
  { id: 'grok-4.1', provider: 'xAI', bias: -0.07, citation_count: 3 },
  { id: 'mistral-large-3', provider: 'Mistral AI', bias: -0.05, citation_count: 1 },
]

/** `bias` changes how often answers in a market name brands. */
export const MARKETS = [
  { id: demoId('market', 'us'), name: 'United States', bias: 0.05 },
  { id: demoId('market', 'uk'), name: 'United Kingdom', bias: 0.02 },
  { id: demoId('market', 'de'), name: 'Germany', bias: -0.02 },
  { id: demoId('market', 'jp'), name: 'Japan', bias: -0.09 },
]

/** Inserts the models and markets. All organizations share them, so existing rows stay unchanged. */
export async function insertModelsAndMarkets(client: Client): Promise<void> {
  const models = MODELS.map(({ id, provider }) => ({ id, provider }))
  await insertRows(client, 'models', models, 'on conflict do nothing')
  const markets = MARKETS.map(({ id, name }) => ({ id, name }))
  await insertRows(client, 'markets', markets, 'on conflict do nothing')
}
