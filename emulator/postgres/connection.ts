import type { Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { serialize } from 'pg-protocol'
import { fatalMessage, isEndlessCopy, readBatch, readFirstMessage } from './messages.ts'

/** How long an idle transaction may block other clients. Shorter than a Worker's timeout. */
const IDLE_TIMEOUT_MS = 4_000

const COPY_NOT_SUPPORTED = serialize.query(
  `do $$ begin raise 'COPY FROM STDIN and PROGRAM need a Postgres server: set DATABASE_URL' using errcode = '0A000'; end $$`,
)

/** What the next client must not inherit: an unfinished batch, a transaction, settings and statements. */
const RESET = [
  // Ends an unfinished batch.
  serialize.sync(),
  ...['ROLLBACK', 'RESET ALL', 'DEALLOCATE ALL', 'RESET SESSION AUTHORIZATION'].map(serialize.query),
]

/** The database's one session, which all connections share. */
export interface Session {
  db: PGlite
  mutex: Mutex
  /** What the server answers to a startup message. */
  startupResponse: Buffer
  /** Called when the database itself has failed. */
  onFailure: (error: unknown) => void
}

/**
 * Serves one client. It holds the mutex from the first message of a batch to the end of its transaction: messages of
 * two clients must not mix between Parse and Sync, nor statements between BEGIN and COMMIT.
 */
export function serve(socket: Socket, { db, mutex, startupResponse, onFailure }: Session): void {
  let received = Buffer.alloc(0)
  let started = false
  let closed = false
  let release: (() => void) | undefined
  let work: Promise<void> = Promise.resolve()

  async function run(batch: Buffer, last: string): Promise<void> {
    release ??= await mutex.acquire()
    if (socket.destroyed) return
    socket.setTimeout(0)
    await execute(db, isEndlessCopy(batch) ? COPY_NOT_SUPPORTED : batch, (bytes) => socket.write(bytes))
    if (last === 'H' || db.isInTransaction()) {
      socket.setTimeout(IDLE_TIMEOUT_MS)
      return
    }
    release()
    release = undefined
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    release ??= await mutex.acquire()
    for (const message of RESET) await execute(db, message)
    release()
  }

  function start(): void {
    while (!started) {
      const message = readFirstMessage(received)
      if (message === undefined) return
      if (message.kind === 'unknown') {
        socket.destroy()
        return
      }
      received = received.subarray(message.size)
      if (message.kind === 'encryption') {
        socket.write('N')
      } else if (message.database === 'postgres') {
        started = true
        socket.write(startupResponse)
      } else {
        socket.end(fatalMessage('3D000', `database "${message.database}" does not exist`))
        return
      }
    }
  }

  socket.setNoDelay()
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes])
    if (!started) start()
    while (started) {
      const next = readBatch(received)
      if (next === undefined) return
      if (next === 'unknown') {
        socket.destroy()
        return
      }
      const { size, last } = next
      const batch = received.subarray(0, size)
      received = received.subarray(size)
      work = work
        .then(() => (last === 'X' ? close() : run(batch, last)))
        .then(() => void (last === 'X' && socket.end()))
        .catch(onFailure)
    }
  })
  socket.on('timeout', () => {
    if (mutex.hasWaiters())
      socket.end(fatalMessage('25P03', 'terminating connection: idle in transaction while others wait'))
    else socket.setTimeout(IDLE_TIMEOUT_MS)
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    work = work.then(close).catch(onFailure)
  })
}

/** The type of a message about an error: "E". */
const ERROR_RESPONSE = 0x45

/** The message of the error with which Postgres ends. */
const PANIC = /^E.{4}SPANIC\0.*?\0M([^\0]*)/s

/** Throws when Postgres panics: it then answers nothing more, and a client would wait forever. */
async function execute(db: PGlite, messages: Buffer, write?: (bytes: Buffer) => void): Promise<void> {
  let panic: string | undefined
  await db.execProtocolRawStream(messages, {
    syncToFs: false,
    // A copy: the bytes are in PGlite's own memory.
    onRawData: (bytes) => {
      const answer = Buffer.from(bytes)
      write?.(answer)
      if (answer[0] === ERROR_RESPONSE) panic ??= PANIC.exec(answer.toString('utf8', 0, 1_000))?.[1]
    },
  })
  if (panic !== undefined) throw new Error(panic)
}

/** Lets one holder in at a time, in order of arrival. */
interface Mutex {
  /** Resolves with the release function once the caller holds the mutex. */
  acquire(): Promise<() => void>
  hasWaiters(): boolean
}

/** Creates a free mutex. */
export function createMutex(): Mutex {
  let last = Promise.resolve()
  let waiters = 0
  return {
    acquire: () => {
      const previous = last
      waiters++
      return new Promise((resolve) => {
        last = new Promise((release) => {
          void previous.then(() => {
            waiters--
            resolve(release)
          })
        })
      })
    },
    hasWaiters: () => waiters > 0,
  }
}
