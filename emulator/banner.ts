import { DEMO } from '../drizzle/seed/demo.ts'
import type { Emulator } from './start.ts'

/** Prints where the service is and, for the demo, what to try with it. */
export function banner({ url, databaseUrl, inspectorUrl }: Emulator, demo: boolean): void {
  console.log(`Export API on ${url}/api/export/v1`)
  if (inspectorUrl) console.log(`Inspector on ${inspectorUrl}`)
  if (!demo) return
  const widest = Math.max(...DEMO.keys.map(({ label }) => label.length))
  console.log(`
Keys
${DEMO.keys.map(({ label, key, note }) => `  ${label.padEnd(widest)}  ${key}  ${note}`).join('\n')}

Try  ${url}/api/export/v1/docs in a browser, or
  curl '${url}/api/export/v1/visibility?brandId=${DEMO.brandId}' \\
    -H 'X-API-Key: ${DEMO.keys.find(({ label }) => label === 'enterprise')?.key}'

Database  ${databaseUrl}
Ctrl-C ends everything.`)
}
