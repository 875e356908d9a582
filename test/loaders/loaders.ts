import { join } from 'node:path'
import type { Row } from '../support/call.ts'

/** A row that arrived. */
export type Line = { readonly metric: string; readonly row: Row }

export type Command = readonly [program: string, ...args: string[]]

type Loader = {
  readonly name: string
  /** The client's address, and so a budget of its own. */
  readonly address: string
  /** Programs and their arguments. The last one prints the loaded rows, one a line. */
  readonly commands: readonly Command[]
  /** Reads a line of it; undefined for one without a row. */
  readonly parse: (line: string) => Line | undefined
}

const file = (name: string): string => join(import.meta.dirname, name)

const ofDuckdb = (metric: string): string =>
  `select to_json({stream: '${metric}', record: row}) from (from export_api.${metric} select * exclude (_dlt_load_id, _dlt_id)) as row;`

function parseSinger(line: string): Line | undefined {
  const { stream, record } = JSON.parse(line)
  return record && { metric: stream, row: record }
}

function parseAirbyte(line: string): Line | undefined {
  const { record } = JSON.parse(line)
  return record && { metric: record.stream, row: record.data }
}

/** Each loads the metrics that `config.json` in its working directory describes. */
export const LOADERS: readonly Loader[] = [
  {
    name: 'dlt',
    address: '192.0.2.1',
    commands: [
      ['python3', file('dlt-pipeline.py')],
      ['duckdb', '-list', '-noheader', 'loaded.duckdb', ofDuckdb('visibility') + ofDuckdb('sentiment')],
    ],
    parse: parseSinger,
  },
  {
    name: 'Airbyte CDK',
    address: '192.0.2.2',
    commands: [
      [
        'source-declarative-manifest',
        'read',
        ...['--config', 'config.json'],
        ...['--catalog', file('airbyte-catalog.json')],
        ...['--manifest-path', file('airbyte-manifest.yaml')],
      ],
    ],
    parse: parseAirbyte,
  },
  {
    name: 'Singer SDK',
    address: '192.0.2.3',
    commands: [['python3', file('singer-tap.py'), '--config', 'config.json']],
    parse: parseSinger,
  },
]
