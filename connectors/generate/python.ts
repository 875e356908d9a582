import { PAGE_SIZE, type Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

const PACKAGES = ['dlt/sources/export_api', 'singer/tap-export-api/tap_export_api']

/** Writes the streams as JSON, and the page size, into the packages of the connectors in Python. */
export function python(streams: readonly Stream[]): Generated[] {
  const loaded = streams.map(({ title: _, formula: __, ...stream }) => stream)
  return PACKAGES.flatMap((folder) => [
    { path: `${folder}/streams.json`, text: `${JSON.stringify(loaded, null, 2)}\n` },
    { path: `${folder}/windows.py`, block: 'page size', text: `PAGE_SIZE = ${PAGE_SIZE}` },
  ])
}
