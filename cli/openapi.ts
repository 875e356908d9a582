import { readFile, writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import pg from 'pg'
import { findOperations } from '../bundle/find-workers.ts'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { DEMO, seedDemo } from '../drizzle/seed/demo.ts'
import { startEmulator } from '../emulator/start.ts'
import { BASE } from '../lib/app.ts'
import { type NamedOperation, openapi } from '../lib/openapi/document.ts'
import { captureExamples, EXAMPLE } from '../lib/openapi/examples.ts'
import type { Json } from '../lib/openapi/parts.ts'
import { run } from './run.ts'

const FILE = new URL('../functions/openapi.json', import.meta.url)

const options = new Command('openapi')
  .description('Writes functions/openapi.json from the Workers in functions/.')
  .option('--check', 'write nothing; fail when the file is not up to date')
  .option('--examples', 'take new examples from the demo data')
  .parse()
  .opts<{ check?: boolean; examples?: boolean }>()

await run(async () => {
  const operations = await findOperations()
  const written = await readFile(FILE, 'utf8')
  const examples = options.examples
    ? await fromDemo(operations)
    : fromDocument(JSON.parse(written), operations)
  const document = `${JSON.stringify(openapi(operations, examples), null, 2)}\n`
  if (!options.check) await writeFile(FILE, document)
  else if (document !== written) {
    throw new UsageError('functions/openapi.json is not up to date. Run npm run openapi.')
  }
})

/** The examples in the existing document. */
function fromDocument(document: Json, operations: readonly NamedOperation[]): Record<string, Json> {
  return Object.fromEntries(
    operations.flatMap(({ path }) => {
      const steps = [
        'paths',
        BASE + path,
        'get',
        'responses',
        '200',
        'content',
        'application/json',
        'example',
      ]
      const example = steps.reduce<Json | undefined>((at, step) => member(at, step), document)
      return example === undefined ? [] : [[path, example]]
    }),
  )
}

function member(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !isList(value) ? value[name] : undefined
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** New examples from the demo data. */
async function fromDemo(operations: readonly NamedOperation[]): Promise<Record<string, Json>> {
  const emulator = await startEmulator({ host: '127.0.0.1', port: 0, crons: false })
  const client = new pg.Client({ connectionString: emulator.databaseUrl })
  try {
    await client.connect()
    await migrateToLatest(client)
    await seedDemo(client, EXAMPLE.seeded)
    await refreshAll(client)
    const key = DEMO.keys.find(({ label }) => label === 'enterprise')?.key ?? ''
    return await captureExamples(operations, { url: emulator.url, key, brandId: DEMO.brandId })
  } finally {
    await client.end()
    await emulator.close()
  }
}
