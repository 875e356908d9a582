import { demoId } from './ids.ts'

/** `bias` changes how often a model names brands. `citations` is its average number of cited pages, roughly. */
export const MODELS = [
  { id: 'gpt-5.2', provider: 'OpenAI', bias: 0.03, citations: 3 },
  { id: 'claude-opus-4-6', provider: 'Anthropic', bias: 0, citations: 2 },
  { id: 'gemini-3-pro', provider: 'Google', bias: 0.04, citations: 4 },
  { id: 'sonar-pro', provider: 'Perplexity', bias: 0.09, citations: 6 },
  { id: 'grok-4.1', provider: 'xAI', bias: -0.07, citations: 3 },
  { id: 'mistral-large-3', provider: 'Mistral AI', bias: -0.05, citations: 1 },
]

/** `bias` changes how often answers in a market name brands. */
export const MARKETS = [
  { id: demoId('market', 'us'), name: 'United States', bias: 0.05 },
  { id: demoId('market', 'uk'), name: 'United Kingdom', bias: 0.02 },
  { id: demoId('market', 'de'), name: 'Germany', bias: -0.02 },
  { id: demoId('market', 'jp'), name: 'Japan', bias: -0.09 },
]
