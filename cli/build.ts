import { UsageError } from '../drizzle/db/connect.ts'
import { withPrivateFolder } from './deploy/private-folder.ts'
import { wranglerConfig } from './deploy/workers.ts'
import { wrangler } from './deploy/wrangler.ts'
import { run } from './run.ts'
import { bundle } from './workers/bundle.ts'
import { readWranglerFile, workersOf } from './workers/wrangler-config.ts'

// npm run build: has wrangler build every Worker as npm run deploy would, without a login or a network.
await run(async () => {
  await bundle()
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
