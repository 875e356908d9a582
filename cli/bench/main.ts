import { readdirSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { Argument } from 'commander'
import { UsageError, withDatabase } from '../../drizzle/db/connect.ts'
import { createCommand } from '../local/command.ts'
import { run } from '../run.ts'
import { dropAll } from './database.ts'
import { markdown, type Section } from './section.ts'

const FOLDER = new URL('./sections/', import.meta.url)

const names = readdirSync(FOLDER).map((file) => file.replace('.ts', ''))

const command = createCommand('bench', {
  description: 'Measures what a page, a refresh, a load and a stored row cost, as ratios of one run.',
  variables: { DATABASE_URL: 'a PostgreSQL server, on which the benchmark creates and drops databases' },
})
  .addArgument(new Argument('[section...]', 'the sections to run (default: all)').choices(names))
  .option('--small', 'use a tenth of each volume')
  .parse()
const { small } = command.opts<{ small?: boolean }>()

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void dropAll().finally(() => process.exit(1)))
}

await run(async () => {
  const serverUrl = process.env.DATABASE_URL
  if (!serverUrl) {
    throw new UsageError(
      'The benchmark creates databases on a PostgreSQL server and drops them. Name the server: DATABASE_URL=postgresql://user:password@host:5432/postgres npm run bench',
    )
  }
  const { rows } = await withDatabase((client) => client.query('show server_version'))
  const cores = `${availableParallelism()} cores, ${cpus()[0]?.model ?? process.arch}`
  const size = small ? 'a tenth of each volume' : 'full volumes'
  console.log(`${cores} · PostgreSQL ${rows[0].server_version} · Node ${process.versions.node} · ${size}\n`)
  try {
    for (const name of command.args.length > 0 ? command.args : names) {
      const { section }: { section: Section } = await import(new URL(`${name}.ts`, FOLDER).href)
      const found = await section({
        serverUrl,
        sized: (full) => (small ? full / 10 : full),
        report: (progress) => console.error(`${name}: ${progress}`),
      })
      for (const table of found) console.log(`${markdown(table)}\n`)
    }
  } finally {
    await dropAll()
  }
})
