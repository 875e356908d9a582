import { statementRunner } from '../refresh/scheduled.ts'
import { parseEnv } from '../request/env.ts'
import { bucketOf } from './bucket.ts'
import { BusyError, publish } from './publish.ts'

/** Milliseconds after which a run starts no further statement. The next run begins five minutes after this one. */
const RUN_MS = 240_000

/** Requests to the bucket after which a run ends: Cloudflare limits the subrequests of a run (wrangler.toml). */
const MOST_REQUESTS = 8000

/** Builds the scheduled Worker that publishes what changed to the bucket of the share. */
export function publisher() {
  return {
    async scheduled(_: object, bindings: object): Promise<void> {
      const env = parseEnv(bindings)
      const begun = Date.now()
      const r2 = bucketOf(bindings)
      let requests = 0
      let objects = 0
      let bytes = 0
      const log = (event: string, fields: object) => console.log(JSON.stringify({ event, ...fields }))
      const run = await publish({
        run: statementRunner({ env, log: null }),
        bucket: {
          delete: (keys) => r2.delete(keys),
          put: async (key, content) => {
            requests += 1
            await r2.put(key, content)
            objects += 1
            bytes += content.length
          },
          read: async (key) => {
            requests += 1
            const object = await r2.get(key, { range: undefined })
            return object && new Uint8Array(await new Response(object.body).arrayBuffer())
          },
        },
        holder: 'the Worker share-publish',
        isOver: () => Date.now() > begun + RUN_MS || requests > MOST_REQUESTS,
      }).catch((error) => {
        if (error instanceof BusyError) return log('publish_busy', { message: error.message })
        throw error
      })
      if (!run) return
      const { versions, isComplete, failures } = run
      if (versions.length > 0) log('published', { version: versions.at(-1), objects, bytes })
      if (failures.length > 0) throw failures[0]
      // More has changed than a run can write. The command has no limit.
      if (!isComplete) log('publish_behind', { objects, remedy: 'npm run share:publish' })
    },
  }
}
