import { MultiBar, type SingleBar } from 'cli-progress'

type Fields = Readonly<Record<string, unknown>>

/** How much a line matters. */
type Level = 'info' | 'warn' | 'error'

/** Shows the progress of a command: as a bar on a terminal, otherwise as JSON lines. */
export type Progress = {
  /** Adds rows to those that the run will fetch. */
  readonly expect: (rows: number) => void
  readonly request: () => void
  readonly receive: (rows: number) => void
  /** Reports what a log keeps. */
  readonly log: (event: string, fields: Fields) => void
  /** Reports a sentence that people should read. */
  readonly notice: (event: string, message: string, fields?: Fields, level?: Level) => void
  /** Reports the error that ends the command. */
  readonly fail: (message: string, exitCode: number) => void
  readonly stop: () => void
  readonly counts: Readonly<Record<'requests' | 'rows', number>>
}

/** With `quiet`, reports only warnings and errors. */
export function createProgress({ quiet = false } = {}): Progress {
  // A reader that leaves, such as head, does not end the work.
  process.stdout.on('error', () => {})
  const counts = { requests: 0, rows: 0, expected: 0 }
  const { isTTY } = process.stdout
  const bars =
    isTTY && !quiet
      ? new MultiBar({
          format: '{bar} {value}/{total} rows · {requests} requests · {eta_formatted} left',
          stream: process.stdout,
          barsize: 20,
          etaBuffer: 50,
          clearOnComplete: true,
          // Otherwise Ctrl-C would leave a terminal that does not wrap lines.
          linewrap: true,
        })
      : undefined
  let bar: SingleBar | undefined
  const draw = () => {
    if (counts.expected > 0) bar ??= bars?.create(0, 0, { requests: 0 })
    bar?.setTotal(Math.max(counts.expected, counts.rows))
    bar?.update(counts.rows, { requests: counts.requests })
  }
  const print = (level: Level, event: string, fields: Fields) => {
    if (isTTY || (quiet && level === 'info')) return
    console.log(JSON.stringify({ ts: new Date().toISOString(), level, event, ...fields }))
  }
  return {
    counts,
    expect(rows) {
      counts.expected += rows
      draw()
    },
    request() {
      counts.requests += 1
      draw()
    },
    receive(rows) {
      counts.rows += rows
      draw()
    },
    log: (event, fields) => print('info', event, fields),
    notice(event, message, fields = {}, level = 'info') {
      if (bars !== undefined) bars.log(`${message}\n`)
      else if (isTTY && level !== 'info') console.log(message)
      print(level, event, { message, ...fields })
    },
    fail: (message, exitCode) => print('error', 'failed', { message, exitCode }),
    stop() {
      // Writes what was logged since the last update.
      bars?.update()
      bars?.stop()
    },
  }
}
