import { parseEnv } from '../env.ts'
import { statementRunner } from '../scheduled.ts'
import { bucketOf } from './bucket.ts'
import { publish } from './publish.ts'

/** Milliseconds after which a run starts no further statement. The next run begins five minutes after this one. */
const RUN_MS = 240_000

/** Objects after which a run ends: Cloudflare limits the subrequests of a run (wrangler.toml). */
const MOST_OBJECTS = 8000

/** Minutes of an hour in which a run writes past months as one set each: the first run of an hour. */
const COMPACT_MINUTES = 5

/** Builds the scheduled Worker that publishes what changed to the bucket of the share. */
export function publisher(): {
  scheduled: (event: { readonly scheduledTime: number }, bindings: object) => Promise<void>
} {
  return {
    async scheduled({ scheduledTime }, bindings) {
      const env = parseEnv(bindings)
      const begun = Date.now()
      let objects = 0
      let bytes = 0
      const { versions, isComplete } = await publish({
        run: statementRunner({ env, log: null }),
        bucket: bucketOf(bindings),
        compact: new Date(scheduledTime).getUTCMinutes() < COMPACT_MINUTES,
        isOver: () => Date.now() > begun + RUN_MS || objects > MOST_OBJECTS,
        onObject: (size) => {
          objects += 1
          bytes += size
        },
      })
      if (versions.length > 0) {
        console.log(JSON.stringify({ event: 'published', version: versions.at(-1), objects, bytes }))
      }
      // More has changed than a run can write. The command has no limit.
      if (!isComplete)
        console.warn(JSON.stringify({ event: 'publish_behind', objects, remedy: 'npm run publish' }))
    },
  }
}
