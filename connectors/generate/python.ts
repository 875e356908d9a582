import { PAGE_SIZE } from '../../lib/rows/size.ts'
import type { Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

const PACKAGES = ['dlt/sources/export_api']

/** Returns the JSON of a stream, with a line for each column. */
const toJson = ({ title: _, formula: __, columns, ...stream }: Stream): string =>
  `${JSON.stringify(stream).slice(0, -1)},"columns":[\n${columns.map((column) => JSON.stringify(column)).join(',\n')}\n]}`

/** Writes the streams as JSON, and the page size, into the packages of the connectors in Python. */
export function python(streams: readonly Stream[]): Generated[] {
  const text = `[\n${streams.map(toJson).join(',\n')}\n]\n`
  return PACKAGES.flatMap((folder) => [
    { path: `${folder}/streams.json`, text },
    { path: `${folder}/windows.py`, block: 'page size', text: `PAGE_SIZE = ${PAGE_SIZE}` },
  ])
}
