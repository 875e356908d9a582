import document from '../../functions/openapi.json' with { type: 'json' }
import { isMetric } from '../../reference/endpoint.ts'
import { firstSentence } from '../../reference/first-sentence.ts'
import { readReference } from '../../reference/reference.ts'
import type { Stream } from '../../reference/streams.ts'
import manifest from '../typescript/package.json' with { type: 'json' }
import { rowTypes } from '../typescript/row-types.ts'
import type { Generated } from './generated.ts'

/** Returns an endpoint's name as the client writes it. */
const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Writes the client's types, metrics and version, and the streams that its command writes as Parquet. */
export async function typescript(streams: readonly Stream[]): Promise<Generated[]> {
  const metrics = readReference(document)
    .endpoints.filter(isMetric)
    .map(({ id, rowName, description }) => ({
      name: camelCase(id),
      id,
      rowName,
      summary: firstSentence(description),
    }))
  const client = 'typescript/src/client.ts'
  const rows = metrics
    .map(({ rowName }) => `  ${rowName},`)
    .sort()
    .join('\n')
  return [
    { path: 'typescript/src/types.gen.ts', text: await rowTypes() },
    { path: 'typescript/src/index.ts', block: 'rows', text: rows },
    { path: client, block: 'rows', text: rows },
    {
      path: client,
      block: 'metrics',
      text: metrics
        .map(({ name, rowName, summary }) => `  /** ${summary} */\n  readonly ${name}: Metric<${rowName}>`)
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
    { path: 'typescript/cli/streams.json', text: `${JSON.stringify(streams, null, 2)}\n` },
  ]
}
