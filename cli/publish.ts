import type { Client } from 'pg'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { runOn } from '../drizzle/db/refresh.ts'
import { publish } from '../lib/share/publish.ts'
import { createBar } from './progress-bar.ts'
import { run } from './run.ts'
import { type CommandBucket, openBucket } from './share/s3-bucket.ts'
import { countFiles, findWrongFiles } from './share/verify-files.ts'

await run(() =>
  withDatabase(async (client) => {
    const bucket = openBucket(process.env)
    await publishAll(client, bucket)
    const wrong = await findWrongFiles(client, bucket)
    if (wrong.length === 0) return console.log('All files match the tables.')
    await client.query('select daily.mark_lost($1)', [wrong.map(({ id }) => id)])
    await publishAll(client, bucket)
    const { length } = await findWrongFiles(client, bucket)
    if (length > 0)
      throw new UsageError(`Replaced files. ${countFiles(length)} still differ from the tables.`)
    console.log(`Replaced ${countFiles(wrong.length)}. All files match the tables.`)
  }),
)

async function publishAll(client: Client, bucket: CommandBucket): Promise<void> {
  let written = 0
  const bar = createBar('{value} sets published')
  bar?.start(0, 0)
  const { versions } = await publish({
    run: runOn(client),
    bucket,
    compact: true,
    onStep: (sets) => {
      written += sets
      bar?.update(written)
    },
  }).finally(() => bar?.stop())
  console.log(
    versions.length === 0
      ? 'Nothing has changed.'
      : `Published ${written} sets as version ${versions.at(-1)}.`,
  )
}
