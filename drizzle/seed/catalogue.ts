import type { Client } from 'pg'
import { demoId } from './ids.ts'

/** The models asked. `lean` shifts how readily a model names brands, `cites` is about how many pages it cites. */
export const MODELS = [
  { id: 'gpt-5.2', provider: 'OpenAI', lean: 0.03, cites: 3 },
  { id: 'claude-opus-4-6', provider: 'Anthropic', lean: 0, cites: 2 },
  { id: 'gemini-3-pro', provider: 'Google', lean: 0.04, cites: 4 },
  { id: 'sonar-pro', provider: 'Perplexity', lean: 0.09, cites: 6 },
  { id: 'grok-4.1', provider: 'xAI', lean: -0.07, cites: 3 },
  { id: 'mistral-large-3', provider: 'Mistral AI', lean: -0.05, cites: 1 },
]

/** Where the prompts are asked from. `lean` shifts how well the brands are known there. */
export const MARKETS = [
  { id: demoId('market', 'us'), name: 'United States', lean: 0.05 },
  { id: demoId('market', 'uk'), name: 'United Kingdom', lean: 0.02 },
  { id: demoId('market', 'de'), name: 'Germany', lean: -0.02 },
  { id: demoId('market', 'jp'), name: 'Japan', lean: -0.09 },
]

/** Adds the models and markets; they belong to everyone, so what is there already stays as it is. */
export async function insertCatalogue(client: Client): Promise<void> {
  await client.query(
    `insert into models (id, provider)
     select id, provider from jsonb_to_recordset($1) as m(id text, provider text)
     on conflict do nothing`,
    [JSON.stringify(MODELS)],
  )
  await client.query(
    `insert into markets (id, name)
     select id, name from jsonb_to_recordset($1) as m(id uuid, name text)
     on conflict do nothing`,
    [JSON.stringify(MARKETS)],
  )
}
