import { bundle } from '../bundle/bundle.ts'
import { readWranglerFile, workersOf } from '../bundle/wrangler-config.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { withPrivateFolder, wranglerConfig } from './deploy/config.ts'
import { reasonOfFailure, wrangler } from './deploy/wrangler.ts'
import { run } from './run.ts'

/** Workers that are built side by side: each is a process that takes a second of CPU. */
const AT_ONCE = 2

const SIZE = /Total Upload: (.+?) \/ gzip: (.+)/

/** Has wrangler build a Worker as it would deploy it; gives what it would upload, or why it would not. */
async function dryRun(
  config: string,
  name: string,
): Promise<{ name: string; size: string; failure?: string }> {
  const ran = await wrangler(['deploy', '--dry-run', '--config', config, '--env', name])
  const [, size, gzip] = SIZE.exec(ran.stdout) ?? []
  if (ran.code !== 0 || size === undefined || gzip === undefined) {
    return { name, size: 'FAILED', failure: reasonOfFailure(ran) }
  }
  return { name, size: `${size.padStart(12)}  ${gzip.padStart(12)} gzip` }
}

await run(async () => {
  await bundle()
  const file = await readWranglerFile()
  const waiting = workersOf(file).map(({ name }) => name)
  const failures: string[] = []
  await withPrivateFolder(async (write) => {
    const config = await write('wrangler.json', wranglerConfig(file))
    const buildOn = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const { size, failure } = await dryRun(config, name)
        console.log(`${name.padEnd(20)} ${size}`)
        if (failure !== undefined) failures.push(`${name}: ${failure}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, buildOn))
  })
  if (failures.length > 0) throw new UsageError(failures.join('\n'))
})
