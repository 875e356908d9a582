import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { readImage, writeImage } from './cluster-image.ts'
import { createMutex, serve } from './connection.ts'
import { startupMessage } from './messages.ts'

// embedded.ts starts this thread: PGlite blocks its thread while it runs a statement.
// The migrations set random_page_cost for new sessions; PGlite's only session starts before them.
const startParams = [...PGlite.defaultStartParams, '-c', 'random_page_cost=1.1']
const { folder }: { folder?: string } = workerData
const isNew = folder === undefined || !existsSync(folder)
const image = isNew ? await readImage() : undefined
const db = await PGlite.create({
  startParams,
  ...(folder && { dataDir: folder }),
  ...(image && { loadDataDir: image }),
})
// As PostgreSQL does: PGlite lets every user write its files.
if (folder) chmodSync(folder, 0o700)
if (isNew && !image) await writeImage(await db.dumpDataDir('none'))
const response: Buffer[] = []
await db.execProtocolRawStream(startupMessage(), { onRawData: (bytes) => response.push(Buffer.from(bytes)) })
const session = {
  db,
  mutex: createMutex(),
  startupResponse: Buffer.concat(response),
  onFailure: (error: unknown) => {
    // Thrown outside of any promise, it ends this thread, and embedded.ts reports it.
    setImmediate(() => {
      throw error
    })
  },
}

const server = createServer((socket) => serve(socket, session))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
parentPort?.postMessage(typeof address === 'object' ? address?.port : undefined)
