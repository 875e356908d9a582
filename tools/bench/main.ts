import { readdirSync, writeFileSync } from 'node:fs'
import { Argument, Command } from 'commander'
import { run } from '../../cli/run.ts'
import { UsageError, withDatabase } from '../../drizzle/db/connect.ts'
import { svg } from './chart.ts'
import { dropAll } from './database.ts'
import { machine } from './machine.ts'
import { markdown } from './print.ts'
import type { Section, Table } from './section.ts'

const FOLDER = new URL('./sections/', import.meta.url)

/** The names of the files that are sections. */
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''))

const command = new Command('bench')
  .description(
    'Measures what a page, a refresh, a load and a stored row cost, and other servers beside, as ratios of one run.',
  )
  .addArgument(new Argument('[section...]', 'all unless said otherwise').choices(names))
  .option('--small', 'a tenth of each volume, for a quick look')
  .option('--json <file>', 'also writes the tables as JSON')
  .option('--svg <file>', 'also draws the comparison with other servers (section peers)')
  .parse()
const { small, json, svg: drawing } = command.opts<{ small?: boolean; json?: string; svg?: string }>()
const chosen = command.args.length > 0 ? command.args : names

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void dropAll().finally(() => process.exit(1)))
}

await run(async () => {
  const serverUrl = process.env.DATABASE_URL
  if (!serverUrl) {
    throw new UsageError(
      'The benchmark needs a real PostgreSQL, on which it makes databases of its own and drops them: DATABASE_URL=postgresql://user:password@host:5432/postgres npm run bench',
    )
  }
  if (drawing && !chosen.includes('peers'))
    throw new UsageError('--svg draws the section peers: name it too.')
  const on = await withDatabase(machine)
  console.log(`${on}${small ? ' · a tenth of each volume' : ''}\n`)
  const tables: Table[] = []
  for (const name of chosen) {
    const { section }: { section: Section } = await import(new URL(`${name}.ts`, FOLDER).href)
    const found = await section({
      serverUrl,
      sized: (full) => (small ? full / 10 : full),
      tell: (what) => console.error(`${name}: ${what}`),
    })
    for (const table of found) console.log(`${markdown(table)}\n`)
    tables.push(...found)
  }
  const chart = tables.find((table) => table.chart)?.chart
  if (drawing && chart !== undefined) writeFileSync(drawing, svg(chart))
  if (json) writeFileSync(json, `${JSON.stringify({ machine: on, tables }, null, 2)}\n`)
})
