import cliProgress, { type SingleBar } from 'cli-progress'
import { type RateLimit, readRateLimit, waitSeconds } from './rate-limit.ts'

type Fields = Readonly<Record<string, unknown>>

/** How much a line matters. */
type Level = 'info' | 'warn' | 'error'

/** Shows the progress of a command: as a bar on a terminal, otherwise as JSON lines. */
export type Progress = {
  /** Adds rows to those that the run will read, and the requests that they take. */
  readonly expect: (rows: number, requests?: number) => void
  readonly request: () => void
  /** Notes what a response says about the rate limit. */
  readonly respond: (headers: Headers) => void
  /** Counts the rows of a page or file. */
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

type Output = { readonly quiet?: boolean; readonly stream?: NodeJS.WritableStream & { isTTY?: boolean } }

/** With `quiet`, reports only warnings and errors. */
export function createProgress({ quiet = false, stream = process.stdout }: Output = {}): Progress {
  // A reader that leaves, such as head, does not end the work.
  stream.on('error', () => {})
  const counts = { requests: 0, rows: 0, expected: 0 }
  const { isTTY } = stream
  /** Requests for rows that are expected and not received yet. */
  let pages = 0
  let limit: (RateLimit & { readonly at: number }) | undefined
  /** The seconds that were announced. Each brand adds its rows when its turn comes. */
  let announced = 0
  /** The seconds from now that the rate limit takes at least. */
  const waitLeft = () =>
    limit === undefined ? 0 : waitSeconds(pages, limit) - (performance.now() - limit.at) / 1000
  const bars =
    isTTY && !quiet
      ? new cliProgress.MultiBar({
          format: '{bar} {value}/{total} rows · {requests} requests · {eta_formatted} left',
          stream,
          barsize: 20,
          etaBuffer: 50,
          // The pace until now, or NULL or INF, is not the one after the burst.
          formatTime: (seconds, options, step) =>
            cliProgress.Format.TimeFormat(
              Math.ceil(Math.max(Number(seconds) || 0, waitLeft())),
              options,
              step,
            ),
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
    stream.write(`${JSON.stringify({ ts: new Date().toISOString(), level, event, ...fields })}\n`)
  }
  const notice: Progress['notice'] = (event, message, fields = {}, level = 'info') => {
    if (bars !== undefined) bars.log(`${message}\n`)
    else if (isTTY && level !== 'info') stream.write(`${message}\n`)
    print(level, event, { message, ...fields })
  }
  return {
    counts,
    expect(rows, requests = 0) {
      counts.expected += rows
      pages += requests
      draw()
      const seconds = Math.ceil(waitLeft())
      if (limit === undefined || seconds <= 0 || seconds < 2 * announced) return
      announced = seconds
      const message = `${pages} requests take about ${duration(seconds)} or longer: the service allows ${limit.requests} in ${limit.seconds} s.`
      notice('rate_limit', message, { requests: pages, seconds })
    },
    respond(headers) {
      const read = readRateLimit(headers)
      if (read !== undefined) limit = { ...read, at: performance.now() }
    },
    request() {
      counts.requests += 1
      draw()
    },
    receive(rows) {
      counts.rows += rows
      pages = Math.max(0, pages - 1)
      draw()
    },
    log: (event, fields) => print('info', event, fields),
    notice,
    fail: (message, exitCode) => print('error', 'failed', { message, exitCode }),
    stop() {
      // Writes what was logged since the last update.
      bars?.update()
      bars?.stop()
    },
  }
}

const duration = (seconds: number): string =>
  seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`
