import { UsageError } from '../drizzle/db/connect.ts'
import { wranglerConfig } from './deploy/workers.ts'
import { withPrivateFolder, wrangler } from './deploy/wrangler.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'
import { bundle } from './workers/bundle.ts'
import { readWranglerFile, workersOf } from './workers/wrangler-config.ts'

const options = createCommand('build', {
  description: 'Builds every Worker as npm run deploy would, without a login or a network.',
})
  .option('--bundle', 'only write the Workers to dist/ and print their sizes')
  .parse()
  .opts<{ bundle?: boolean }>()

await run(async () => {
  const bundles = await bundle()
  if (options.bundle) {
    for (const { name, bytes, gzip } of bundles)
      console.log(`${name.padEnd(20)} ${String(bytes).padStart(8)} bytes ${String(gzip).padStart(8)} gzip`)
    return
  }
  const file = await readWranglerFile()
  await withPrivateFolder(async (write) => {
    const config = await write('wrangler.json', wranglerConfig(file))
    for (const { name } of workersOf(file)) {
      const { code, output } = await wrangler(['deploy', '--dry-run', '--config', config, '--env', name])
      if (code !== 0) throw new UsageError(`wrangler could not build ${name}:\n${output}`)
      console.log(`${name.padEnd(20)} ${/Total Upload: .+/.exec(output)?.[0] ?? ''}`)
    }
  })
})
