import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../drizzle/db/connect.ts'
import current from '../functions/openapi.json' with { type: 'json' }
import { BASE } from '../lib/http/app.ts'
import { openapi } from '../site/reference/openapi/document.ts'
import { createCommand } from './local/command.ts'
import { examplesOfDemo, PARAMETER_EXAMPLES } from './openapi/examples.ts'
import { run } from './run.ts'
import { findOperations } from './workers/find-workers.ts'

const FILE = new URL('../functions/openapi.json', import.meta.url)
const CONNECTORS = fileURLToPath(new URL('../connectors/generate/main.ts', import.meta.url))

const currentBodies = Object.fromEntries(
  Object.entries(current.paths).map(([path, { get }]) => [
    path.slice(BASE.length),
    get.responses[200].content['application/json'].example,
  ]),
)

const options = createCommand('openapi', {
  description:
    'Writes functions/openapi.json from the Workers in functions/, and from it the generated parts of connectors/.',
})
  .option('--check', 'write nothing, and fail when the file is out of date')
  .option('--examples', 'regenerate the examples from the demo data')
  .parse()
  .opts<{ check?: boolean; examples?: boolean }>()

await run(async () => {
  const operations = await findOperations()
  const written = await readFile(FILE, 'utf8')
  const bodies = options.examples ? await examplesOfDemo(operations) : currentBodies
  const examples = { parameters: PARAMETER_EXAMPLES, bodies }
  const document = `${JSON.stringify(openapi(operations, examples), null, 2)}\n`
  if (options.check && document !== written)
    throw new UsageError('functions/openapi.json is out of date. Run npm run openapi.')
  if (options.check) return
  await writeFile(FILE, document)
  // This process has imported the former document.
  execFileSync(process.execPath, [CONNECTORS], { stdio: 'inherit' })
})
