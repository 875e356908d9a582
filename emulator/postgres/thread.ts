import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { serve } from './connection.ts'
import { startupMessage } from './messages.ts'
import { createMutex } from './mutex.ts'

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

// initdb takes most of the time of a start, and its result is always the same: it runs once per version of PGlite.
const PACKAGE = fileURLToPath(
  new URL('../../node_modules/@electric-sql/pglite/package.json', import.meta.url),
)
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
const PATH = fileURLToPath(
  new URL(`../../node_modules/.cache/export-api/pglite-${version}.tar`, import.meta.url),
)

/** Reads the data directory of an empty cluster; undefined before the first start. */
async function readImage(): Promise<Blob | undefined> {
  try {
    return new Blob([await readFile(PATH)])
  } catch {
    return undefined
  }
}

/** Keeps the data directory of an empty cluster for the next start. */
async function writeImage(image: Blob): Promise<void> {
  const unfinished = `${PATH}.${process.pid}-${Date.now()}`
  await mkdir(dirname(PATH), { recursive: true })
  await writeFile(unfinished, Buffer.from(await image.arrayBuffer()))
  await rename(unfinished, PATH)
}
