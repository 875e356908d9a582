import { DEMO } from '../drizzle/seed/demo.ts'
import type { Demo } from './demo.ts'
import type { Emulator } from './start.ts'
import { writeProfile } from './state.ts'

/** Prints the address and, for the demo, its keys, a request to paste, and the profile file of the share. */
export function banner({ url, databaseUrl, inspectorUrl }: Emulator, demo: Demo | undefined): void {
  console.log(`Export API on ${url}/api/export/v1`)
  if (inspectorUrl) console.log(`Inspector on ${inspectorUrl}`)
  if (demo === undefined) return
  const key = DEMO.keys.find(({ label }) => label === 'enterprise')?.key
  const width = Math.max(...DEMO.keys.map(({ label }) => label.length))
  console.log(`
Keys
${DEMO.keys.map(({ label, key, note }) => `  ${label.padEnd(width)}  ${key}  ${note}`).join('\n')}

Open ${url}/api/export/v1/docs in a browser, or run
  curl '${url}/api/export/v1/visibility?brandId=${DEMO.brandId}' \\
    -H 'X-API-Key: ${key}'
A CSV file of all rows: curl -OJ '${url}/api/export/v1/citation-share?brandId=${DEMO.brandId}&format=csv' \\
    -H 'X-API-Key: ${key}'
Tables of all rows, in Python with pip install delta-sharing:
  delta_sharing.load_as_pandas('${writeProfile(url, key ?? '')}#export.metrics.visibility')
Parquet files of all rows: EXPORT_API_URL=${url} EXPORT_API_KEY=${key} npm run sync -- --out copy
Sources for dlt, Airbyte, Singer and others are in connectors/. They need ${url} and a key.

Database  ${databaseUrl}
${
  demo.isKept
    ? 'Its rows and keys stay for the next start. npm start -- --fresh begins again.'
    : 'Another npm start keeps its data in .state/, so this one forgets its own.'
}
Press Ctrl-C to stop.`)
}
