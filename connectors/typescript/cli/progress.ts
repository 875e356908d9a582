import { MultiBar, type SingleBar } from 'cli-progress'

type Fields = Readonly<Record<string, unknown>>

/** Shows how a command goes on: as a bar on a terminal, otherwise as JSON lines. */
export type Progress = {
  /** Adds rows to those that the run will fetch. */
  readonly expect: (rows: number) => void
  readonly request: () => void
  readonly receive: (rows: number) => void
  /** Reports what a log keeps. */
  readonly log: (event: string, fields: Fields) => void
  /** Reports a sentence that people should read. */
  readonly notice: (event: string, message: string, fields?: Fields) => void
  readonly stop: () => void
  readonly counts: Readonly<Record<'requests' | 'rows', number>>
}

export function createProgress(): Progress {
  // A reader that leaves, such as head, does not end the work.
  process.stdout.on('error', () => {})
  const counts = { requests: 0, rows: 0, expected: 0 }
  const bars = process.stdout.isTTY
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
  const print = (event: string, fields: Fields) => {
    if (bars === undefined) console.log(JSON.stringify({ event, ...fields }))
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
    log: print,
    notice(event, message, fields = {}) {
      bars?.log(`${message}\n`)
      print(event, { message, ...fields })
    },
    stop() {
      // Writes what was logged since the last update.
      bars?.update()
      bars?.stop()
    },
  }
}
