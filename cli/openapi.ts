import { readFile, writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import pg from 'pg'
import { findOperations } from '../bundle/find-workers.ts'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { DEMO, seedDemo } from '../drizzle/seed/demo.ts'
import { startEmulator } from '../emulator/start.ts'
import current from '../functions/openapi.json' with { type: 'json' }
import { BASE } from '../lib/app.ts'
import { openapi } from '../lib/openapi/document.ts'
import { captureExamples, EXAMPLE } from '../lib/openapi/examples.ts'
import type { Json } from '../lib/openapi/json-schema.ts'
import type { NamedOperation } from '../lib/openapi/operation.ts'
import { run } from './run.ts'

const FILE = new URL('../functions/openapi.json', import.meta.url)

const currentExamples = Object.fromEntries(
  Object.entries(current.paths).map(([path, { get }]) => [
    path.slice(BASE.length),
    get.responses[200].content['application/json'].example,
  ]),
)

const options = new Command('openapi')
  .description('Writes functions/openapi.json from the Workers in functions/.')
  .option('--check', 'write nothing, and fail when the file is out of date')
  .option('--examples', 'regenerate the examples from the demo data')
  .parse()
  .opts<{ check?: boolean; examples?: boolean }>()

await run(async () => {
  const operations = await findOperations()
  const written = await readFile(FILE, 'utf8')
  const examples = options.examples ? await examplesOfDemo(operations) : currentExamples
  const document = `${JSON.stringify(openapi(operations, examples), null, 2)}\n`
  if (!options.check) await writeFile(FILE, document)
  else if (document !== written) {
    throw new UsageError('functions/openapi.json is out of date. Run npm run openapi.')
  }
})

/** Takes the examples from a service with the demo data. */
async function examplesOfDemo(operations: readonly NamedOperation[]): Promise<Record<string, Json>> {
  const emulator = await startEmulator({ host: '127.0.0.1', port: 0, crons: false })
  const client = new pg.Client({ connectionString: emulator.databaseUrl })
  try {
    await client.connect()
    await migrateToLatest(client)
    await seedDemo(client, EXAMPLE.seeded)
    await refreshAll(client)
    await client.query('update daily.changes set changed_at = $1', [EXAMPLE.changed])
    const key = DEMO.keys.find(({ label }) => label === 'enterprise')?.key ?? ''
    return await captureExamples(operations, { url: emulator.url, key })
  } finally {
    await client.end()
    await emulator.close()
  }
}
