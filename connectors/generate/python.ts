import type { Stream } from '../../reference/streams.ts'
import type { Generated } from './generated.ts'

const PACKAGES = ['dlt/sources/export_api', 'singer/tap-export-api/tap_export_api']

/** Writes the streams as JSON into the packages of the connectors in Python. */
export const python = (streams: readonly Stream[]): Generated[] =>
  PACKAGES.map((folder) => ({
    path: `${folder}/streams.json`,
    text: `${JSON.stringify(streams, null, 2)}\n`,
  }))
