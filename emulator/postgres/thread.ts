import { once } from 'node:events'
import { createServer } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { readImage, writeImage } from './cluster-image.ts'
import { serve } from './connection.ts'
import { startup } from './frames.ts'
import { mutex } from './mutex.ts'

// Runs in a thread of its own (postgres.ts starts it): while the database works, nothing else in it does.
// Its one session began before the migration that sets this for the database's sessions.
const startParams = [...PGlite.defaultStartParams, '-c', 'random_page_cost=1.1']
const image = await readImage()
const db = await PGlite.create({ startParams, ...(image && { loadDataDir: image }) })
if (!image) await writeImage(await db.dumpDataDir('none'))
const greeting: Buffer[] = []
await db.execProtocolRawStream(startup(), { onRawData: (bytes) => greeting.push(Buffer.from(bytes)) })
const session = {
  onBroken: (error: unknown) => {
    // Thrown outside of any promise it ends this thread, and postgres.ts is told.
    setImmediate(() => {
      throw error
    })
  },
  db,
  mutex: mutex(),
  greeting: Buffer.concat(greeting),
}

const server = createServer((socket) => serve(socket, session))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
parentPort?.postMessage(typeof address === 'object' ? address?.port : undefined)
