import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { diskRemedy } from '../../cli/local/disk-errors.mjs'
import { reasonOf } from '../../drizzle/db/connect.ts'

/** Emscripten's numbers of errors of the file system, which PGlite throws without a name. */
const CODES = new Map([
  [2, 'EACCES'],
  [19, 'EDQUOT'],
  [33, 'EMFILE'],
  [41, 'ENFILE'],
  [51, 'ENOSPC'],
  [63, 'EPERM'],
  [69, 'EROFS'],
])

/** A Postgres in this process. */
export interface EmbeddedPostgres {
  /** For `pg` and psql. */
  url: string
  close(): Promise<void>
}

/**
 * Starts a Postgres in a thread. It listens on a free port of 127.0.0.1. It keeps its files in `folder`, and without one
 * it is empty and in memory. Rejects when the files are damaged or of another version of Postgres.
 */
export async function startEmbeddedPostgres(folder?: string): Promise<EmbeddedPostgres> {
  const worker = new Worker(new URL('./thread.mjs', import.meta.url), { workerData: { folder } })
  const ended = once(worker, 'exit').then(() => {
    throw new Error('The embedded Postgres ended')
  })
  const [port] = await Promise.race([once(worker, 'message'), ended]).catch((error) => {
    const code = CODES.get(error.errno)
    throw code === undefined ? error : new Error(`The embedded Postgres cannot write ${folder}: ${code}`)
  })
  ended.catch(() => undefined)
  worker.on('error', (error) => {
    const reason = reasonOf(error)
    console.error(`The embedded Postgres failed: ${reason}. ${diskRemedy(reason) ?? 'Restart the service.'}`)
  })
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    close: async () => {
      await worker.terminate()
    },
  }
}
