import document from '../../functions/openapi.json' with { type: 'json' }
import { isMetric } from '../../site/reference/endpoint.ts'
import { firstSentence } from '../../site/reference/first-sentence.ts'
import { readReference } from '../../site/reference/reference.ts'
import manifest from '../typescript/package.json' with { type: 'json' }
import type { Generated } from './generated.ts'
import { rowTypes } from './row-types.ts'

/** Returns an endpoint's name as the client writes it. */
const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Writes the client's types, metrics and version. */
export function typescript(): Generated[] {
  const metrics = readReference(document)
    .endpoints.filter(isMetric)
    .map(({ id, rowName, description }) => ({
      name: camelCase(id),
      id,
      rowName,
      summary: firstSentence(description),
    }))
  const client = 'typescript/src/client.ts'
  return [
    { path: 'typescript/src/types.ts', text: rowTypes() },
    {
      path: client,
      block: 'metrics',
      text: metrics
        .map(
          ({ name, rowName, summary }) => `  /** ${summary} */\n  readonly ${name}: Metric<types.${rowName}>`,
        )
        .join('\n'),
    },
    {
      path: client,
      block: 'requests',
      text: metrics.map(({ name, id }) => `    this.${name} = metric('${id}')`).join('\n'),
    },
    {
      path: 'typescript/src/options.ts',
      block: 'version',
      text: `const USER_AGENT = 'export-api-typescript/${manifest.version}'`,
    },
  ]
}
