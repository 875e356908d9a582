import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A Postgres in this process. */
export interface EmbeddedPostgres {
  /** For `pg` and psql. */
  url: string
  close(): Promise<void>
}

/** Starts an empty in-memory Postgres in a thread. It listens on a free port of 127.0.0.1. */
export async function startEmbeddedPostgres(): Promise<EmbeddedPostgres> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url))
  const [port] = await once(worker, 'message')
  worker.on('error', (error) => console.error(`The embedded Postgres failed: ${error}. Restart the service.`))
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    close: async () => {
      await worker.terminate()
    },
  }
}
