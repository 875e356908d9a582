import retry from 'p-retry'
import type { Client } from 'pg'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { runOn } from '../drizzle/db/refresh.ts'
import { BusyError, publish, type Run } from '../lib/share/publish.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { createBar } from './progress-bar.ts'
import { run } from './run.ts'
import { type CommandBucket, openBucket } from './share/s3-bucket.ts'
import { countObjects, findWrongObjects } from './share/verify-objects.ts'

const WAIT_MS = 5_000

createCommand('share:publish', {
  description:
    'Publishes what changed to the bucket of the share, then compares every object with the tables. Replaces lost and wrong objects.',
  variables: {
    ...DATABASE_URL,
    SHARE_BUCKET: 'the R2 bucket (default: the one of the npm start that runs)',
  },
}).parse()

await run(() =>
  withDatabase(async (client) => {
    const bucket = openBucket(process.env)
    const failures = await publishAll(client, bucket)
    const wrong = await findWrongObjects(client, bucket)
    // What is lost or wrong can be why thirds and months could not be written.
    if (wrong.length === 0 && failures.length > 0) throw failures[0]
    if (wrong.length === 0) return console.log('All objects match the tables.')
    await client.query('select daily.restart_share($1, $2)', [
      wrong.map(({ brandId }) => brandId),
      wrong.flatMap(({ id }) => id ?? []),
    ])
    const left = await publishAll(client, bucket)
    if (left.length > 0) throw left[0]
    const { length } = await findWrongObjects(client, bucket)
    if (length > 0)
      throw new UsageError(`Replaced objects. ${countObjects(length)} still differ from the tables.`)
    console.log(`Replaced ${countObjects(wrong.length)}. All objects match the tables.`)
  }),
)

/** Publishes, and returns what failed. */
async function publishAll(client: Client, bucket: CommandBucket): Promise<Run['failures']> {
  let written = 0
  const bar = createBar('{value} objects published')
  bar?.start(0, 0)
  const publishOnce = () =>
    publish({
      run: runOn(client),
      bucket: {
        ...bucket,
        put: async (key, content) => {
          await bucket.put(key, content)
          written += 1
          bar?.update(written)
        },
      },
      holder: `npm run share:publish, process ${process.pid}`,
    })
  const { versions, failures } = await waiting(publishOnce).finally(() => bar?.stop())
  if (versions.length > 0) console.log(`Published ${countObjects(written)} as version ${versions.at(-1)}.`)
  else if (failures.length === 0) console.log('Nothing has changed.')
  return failures
}

/** Waits while another publisher works. */
function waiting(publishOnce: () => Promise<Run>): Promise<Run> {
  let busy = ''
  return retry(publishOnce, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: WAIT_MS,
    factor: 1,
    shouldRetry: ({ error }) => {
      if (!(error instanceof BusyError)) return false
      if (busy !== error.holder) console.log(`${error.message} Waiting.`)
      busy = error.holder
      return true
    },
  })
}
