import type { Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { fatal, isCopyIn, query, readOpening, readRun, SYNC } from './frames.ts'
import type { Mutex } from './mutex.ts'

/** How long a client with an idle transaction may keep others waiting: less than a request's patience. */
const IDLE_LIMIT_MS = 4_000

/** PGlite would wait for the rows inside its one thread, find none, and end itself. */
const NO_COPY_IN = query(
  `do $$ begin raise 'COPY FROM STDIN needs a Postgres server: set DATABASE_URL' using errcode = '0A000'; end $$`,
)

/** The database's one session, the queue for it, and how it greets who comes in. */
export interface Session {
  db: PGlite
  mutex: Mutex
  greeting: Buffer
  /** Told when the database itself has come to an end. */
  onBroken: (error: unknown) => void
}

/**
 * Serves one client. It holds the session from a run's first message until it is out of its transaction, as
 * messages of two clients must not mix between Parse and Sync, nor statements between BEGIN and COMMIT.
 */
export function serve(socket: Socket, { db, mutex, greeting, onBroken }: Session): void {
  let received = Buffer.alloc(0)
  let greeted = false
  let left = false
  let endTurn: (() => void) | undefined
  let work: Promise<void> = Promise.resolve()

  async function run(messages: Buffer, last: string): Promise<void> {
    endTurn ??= await mutex.take()
    if (socket.destroyed) return
    socket.setTimeout(0)
    await execute(db, isCopyIn(messages) ? NO_COPY_IN : messages, (bytes) => socket.write(bytes))
    if (last === 'H' || db.isInTransaction()) {
      socket.setTimeout(IDLE_LIMIT_MS)
      return
    }
    endTurn()
    endTurn = undefined
  }

  async function leave(): Promise<void> {
    if (left) return
    left = true
    endTurn ??= await mutex.take()
    // What is left of the client would be the next one's: its run, its transaction, its settings.
    await execute(db, SYNC)
    await execute(db, query('ROLLBACK'))
    await execute(db, query('RESET ALL'))
    await execute(db, query('DEALLOCATE ALL'))
    await execute(db, query('RESET SESSION AUTHORIZATION'))
    endTurn()
  }

  function open(): void {
    for (
      let opening = readOpening(received);
      !greeted && opening !== undefined;
      opening = readOpening(received)
    ) {
      if (opening.kind === 'other') {
        socket.destroy()
        return
      }
      received = received.subarray(opening.size)
      if (opening.kind === 'encryption') {
        socket.write('N')
      } else if (opening.database === 'postgres') {
        greeted = true
        socket.write(greeting)
      } else {
        // There is one database: whoever asks for another must not take this one for it.
        socket.end(fatal('3D000', `database "${opening.database}" does not exist`))
        return
      }
    }
  }

  socket.setNoDelay()
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes])
    if (!greeted) open()
    for (let next = greeted ? readRun(received) : undefined; next !== undefined; next = readRun(received)) {
      const { size, last } = next
      const messages = received.subarray(0, size)
      received = received.subarray(size)
      work = work
        .then(() => (last === 'X' ? leave() : run(messages, last)))
        .then(() => void (last === 'X' && socket.end()))
        .catch(onBroken)
    }
  })
  socket.on('timeout', () => {
    if (mutex.wanted())
      socket.end(fatal('25P03', 'terminating connection: idle in transaction while others wait'))
    else socket.setTimeout(IDLE_LIMIT_MS)
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    work = work.then(leave).catch(onBroken)
  })
}

async function execute(
  db: PGlite,
  messages: Buffer,
  write: (bytes: Buffer) => void = () => {},
): Promise<void> {
  await db.execProtocolRawStream(messages, {
    syncToFs: false,
    // A copy: the bytes lie in the database's own memory.
    onRawData: (bytes) => write(Buffer.from(bytes)),
  })
}
