import { drawBar, type ProgressBar } from './progress-bar.ts'
import { formatSeconds, forTerminal } from './text.ts'

type Fields = Readonly<Record<string, unknown>>

/** How much a line matters. */
type Level = 'info' | 'warn' | 'error'

/** Shows the progress of a command: in the last line of a terminal, otherwise as JSON lines. */
export type Progress = {
  /** Shows on a terminal what the command does, also while no rows are expected. */
  readonly begin: (activity: string) => void
  /** Adds rows to those that the run will read, and the requests that they take. */
  readonly expect: (rows: number, requests?: number) => void
  readonly request: () => void
  /** Notes what a response says about the rate limit. */
  readonly respond: (headers: Headers) => void
  /** Counts the rows of a page or file. */
  readonly receive: (rows: number) => void
  /** Reports what a log keeps. */
  readonly log: (event: string, fields: Fields) => void
  /** Reports a sentence that people should read, or the lines of one message. */
  readonly notice: (
    event: string,
    message: string | readonly string[],
    fields?: Fields,
    level?: Level,
  ) => void
  /** Reports a wait, which a terminal counts down. A routine one, for what is named, has no line there. */
  readonly wait: (message: string, seconds: number, routine?: string) => void
  /** Reports the error that ends the command. */
  readonly fail: (message: string, exitCode: number) => void
  /** Leaves the terminal to what is printed next. */
  readonly stop: () => void
  readonly counts: Readonly<Record<'requests' | 'rows', number>>
}

type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

type Output = { readonly quiet?: boolean; readonly stream?: Terminal }

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
  const waitLeft = () => (limit === undefined ? 0 : waitSeconds(pages, limit) - secondsSince(limit.at))
  let pause = { until: 0, cause: '' }
  let current = { activity: '', at: 0 }
  let bar: ProgressBar | undefined
  const print = (level: Level, event: string, fields: Fields) => {
    if (isTTY || (quiet && level === 'info')) return
    stream.write(
      `${forTerminal(JSON.stringify({ ts: new Date().toISOString(), level, event, ...fields }))}\n`,
    )
  }
  const notice: Progress['notice'] = (event, message, fields = {}, level = 'info') => {
    const lines = [message].flat()
    print(level, event, { message: lines.join(' '), ...fields })
    if (!isTTY || (quiet && level === 'info')) return
    const text = lines.map((line) => `${forTerminal(line, stream.columns)}\n`).join('')
    if (bar === undefined) stream.write(text)
    else bar.log(text)
  }
  return {
    counts,
    begin(activity) {
      current = { activity: forTerminal(activity), at: performance.now() }
      if (!isTTY || quiet) return
      bar ??= drawBar(stream, () => ({
        ...counts,
        activity: current.activity,
        seconds: secondsSince(current.at),
        waiting: -secondsSince(pause.until),
        waitsFor: pause.cause,
        waitLeft: waitLeft(),
      }))
    },
    expect(rows, requests = 0) {
      counts.expected += rows
      pages += requests
      bar?.update()
      const seconds = Math.ceil(waitLeft())
      if (limit === undefined || seconds <= 0 || seconds < 2 * announced) return
      announced = seconds
      const message = `${pages} requests take about ${formatSeconds(seconds)} or longer: the service allows ${limit.requests} in ${limit.seconds} s.`
      print('info', 'rate_limit', { message, requests: pages, seconds })
    },
    respond(headers) {
      const read = readRateLimit(headers)
      if (read !== undefined) limit = { ...read, at: performance.now() }
    },
    request() {
      counts.requests += 1
      bar?.update()
    },
    receive(rows) {
      counts.rows += rows
      pages = Math.max(0, pages - 1)
      bar?.update()
    },
    log: (event, fields) => print('info', event, fields),
    notice,
    wait(message, seconds, routine) {
      pause = { until: performance.now() + seconds * 1000, cause: routine ?? 'the service' }
      if (routine !== undefined) print('warn', 'wait', { message, seconds })
      else notice('wait', message, { seconds }, 'warn')
    },
    fail: (message, exitCode) => print('error', 'failed', { message, exitCode }),
    stop() {
      bar?.stop()
      bar = undefined
    },
  }
}

const secondsSince = (at: number): number => (performance.now() - at) / 1000

/** A bucket of requests as a response describes it: how fast it fills up, and how many are left. */
type RateLimit = { readonly requests: number; readonly seconds: number; readonly remaining: number }

/** Returns undefined when the service did not count the request. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [, requests, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '') ?? []
  const [, remaining] = /;r=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? []
  if (remaining === undefined) return undefined
  return { requests: Number(requests), seconds: Number(seconds), remaining: Number(remaining) }
}

/** Returns the seconds in which the bucket receives what requests need beyond those that are left. */
export const waitSeconds = (needed: number, { requests, seconds, remaining }: RateLimit): number =>
  (Math.max(0, needed - remaining) * seconds) / requests
