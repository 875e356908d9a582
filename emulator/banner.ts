import { color } from '../cli/local/color.ts'
import { DEMO } from '../drizzle/seed/demo.ts'
import type { Demo } from './demo-data.ts'
import type { Emulator } from './emulator.ts'

const LABEL_WIDTH = 10

/** Prints where the service is, and for the demo what to do next: at most eight lines of at most 80 columns, and one for an inspector. */
export function banner({ url, databaseUrl, inspectorUrl }: Emulator, demo: Demo | undefined): void {
  const lines = [entry('Page', color('cyan', url))]
  if (inspectorUrl) lines.push(entry('Inspector', inspectorUrl))
  if (demo !== undefined) {
    lines.push(
      entry('Request', 'paste into another terminal'),
      `KEY=${DEMO.key}`,
      `curl -H "X-API-Key: $KEY" ${url}/api/export/v1/brands`,
      entry('Copy', `${color('bold', 'npm run sync')} in another terminal writes Delta tables and a report`),
      entry('Database', `DATABASE_URL=${databaseUrl}`),
      demo.isKept
        ? entry('More', `${color('bold', 'npm start -- --keys')} lists all keys`)
        : entry('Data', 'forgotten at the end: another npm start keeps its own in .state/'),
    )
  }
  lines.push(entry('Stop', 'Press Ctrl-C.'))
  console.log(`\n${lines.join('\n')}\n`)
}

const entry = (label: string, text: string): string =>
  `${color('green', '➜')} ${color('bold', label.padEnd(LABEL_WIDTH))}${text}`

/** Lists the demo keys, each on a line of its own. */
export const listKeys = (): string =>
  DEMO.keys.map(({ label, key, note }) => `${color('bold', label)}: ${note}\n  ${key}`).join('\n')
