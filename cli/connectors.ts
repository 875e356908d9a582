import { generate, outdated, writeGenerated } from '../connectors/generate/generate.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'

const options = createCommand('connectors', {
  description: 'Writes the generated parts of connectors/ from functions/openapi.json.',
})
  .option('--check', 'write nothing, and fail when a file is out of date')
  .parse()
  .opts<{ check?: boolean }>()

await run(async () => {
  const files = await generate()
  if (!options.check) return writeGenerated(files)
  const paths = await outdated(files)
  if (paths.length > 0) {
    throw new UsageError(
      `Out of date: ${paths.map((path) => `connectors/${path}`).join(', ')}. Run npm run connectors.`,
    )
  }
})
