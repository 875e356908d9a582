import { readFile, writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import * as z from 'zod/mini'
import { findOperations } from '../bundle/find-workers.ts'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError, withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { DEMO, seedDemo } from '../drizzle/seed/demo.ts'
import { startEmulator } from '../emulator/start.ts'
import { BASE } from '../lib/app.ts'
import { type NamedOperation, openapi } from '../lib/openapi/document.ts'
import { captureExamples, EXAMPLE } from '../lib/openapi/examples.ts'
import type { Json } from '../lib/openapi/parts.ts'
import { run } from './run.ts'

const FILE = new URL('../functions/openapi.json', import.meta.url)

const Document = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({
        responses: z.object({
          200: z.object({
            content: z.object({ 'application/json': z.object({ example: z.optional(z.json()) }) }),
          }),
        }),
      }),
    }),
  ),
})

const options = new Command('openapi')
  .description('Writes functions/openapi.json from the Workers in functions/.')
  .option('--check', 'write nothing; fail when the file is not up to date')
  .option('--examples', 'take new examples from the demo data')
  .parse()
  .opts<{ check?: boolean; examples?: boolean }>()

await run(async () => {
  const operations = await findOperations()
  const written = await readFile(FILE, 'utf8')
  const examples = options.examples ? await fromDemo(operations) : fromDocument(JSON.parse(written))
  const document = `${JSON.stringify(openapi(operations, examples), null, 2)}\n`
  if (!options.check) await writeFile(FILE, document)
  else if (document !== written) {
    throw new UsageError('functions/openapi.json is not up to date. Run npm run openapi.')
  }
})

/** The examples in the existing document. */
function fromDocument(document: unknown): Record<string, Json> {
  const { paths } = Document.parse(document)
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, { get }]) => {
      const { example } = get.responses[200].content['application/json']
      return example === undefined ? [] : [[path.slice(BASE.length), example]]
    }),
  )
}

/** New examples from the demo data. */
async function fromDemo(operations: readonly NamedOperation[]): Promise<Record<string, Json>> {
  const emulator = await startEmulator({ host: '127.0.0.1', port: 0, crons: false })
  try {
    await withClient(emulator.databaseUrl, async (client) => {
      await migrateToLatest(client)
      await seedDemo(client, EXAMPLE.seeded)
      await refreshAll(client)
    })
    const key = DEMO.keys.find(({ label }) => label === 'enterprise')?.key ?? ''
    return await captureExamples(operations, { url: emulator.url, key, brandId: DEMO.brandId })
  } finally {
    await emulator.close()
  }
}
