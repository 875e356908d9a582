import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A Postgres inside this process, and how `pg` or psql reach it. */
export interface EmbeddedPostgres {
  url: string
  stop(): Promise<void>
}

/** Starts an empty Postgres in memory, on a port of 127.0.0.1 that is free. Everyone talks to it over TCP as to any other. */
export async function startEmbeddedPostgres(): Promise<EmbeddedPostgres> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url))
  const [port] = await once(worker, 'message')
  worker.on('error', (error) => console.error(`The embedded Postgres has ended: ${error}`))
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await worker.terminate()
    },
  }
}
