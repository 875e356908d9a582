import cliProgress, { type GenericFormatter } from 'cli-progress'
import { counted, formatNumber } from './text.ts'

/** What the last line of a terminal shows: a bar while rows are expected, otherwise the activity. */
export type Status = {
  readonly activity: string
  readonly seconds: number
  readonly rows: number
  readonly expected: number
  readonly requests: number
  /** The seconds that are waited before the next request. */
  readonly waiting: number
  readonly waitsFor: string
  /** The seconds that the rate limit takes at least. */
  readonly waitLeft: number
}

export type ProgressBar = {
  readonly update: () => void
  /** Writes text above the last line. */
  readonly log: (text: string) => void
  /** Removes the last line. */
  readonly stop: () => void
}

/** Draws the status in the last line of a terminal, until it is stopped. */
export function drawBar(stream: NodeJS.WritableStream, status: () => Status): ProgressBar {
  let furthest = 0
  const format: GenericFormatter = (options, { progress, eta }) => {
    const { activity, seconds, rows, expected, requests, waiting, waitsFor, waitLeft } = status()
    if (rows >= expected)
      return waiting > 0
        ? `${activity} · waiting ${Math.ceil(waiting)} s for ${waitsFor}`
        : `${activity} · ${Math.floor(seconds)} s`
    // More rows can be expected than at first. A bar does not run backwards.
    furthest = Math.max(furthest, progress)
    const counts = `${cliProgress.Format.BarFormat(furthest, options)} ${formatNumber(rows)}/${formatNumber(expected)} rows`
    const limited = Math.ceil(Math.max(waiting, waitLeft))
    const time = (left: number) => cliProgress.Format.TimeFormat(left, options, 5)
    if (waiting > 0) return `${counts} · waiting ${time(limited)} for ${waitsFor}`
    // The pace until now, or NULL or INF, is not the one after the burst.
    const left = Math.max(Math.ceil(Number(eta) || 0), limited)
    return `${counts} · ${counted(requests, 'request')} · ${time(left)} left`
  }
  const bars = new cliProgress.MultiBar({
    format,
    stream,
    barsize: 20,
    etaBuffer: 50,
    clearOnComplete: true,
    // Otherwise a process that is killed would leave a terminal that does not wrap lines.
    linewrap: true,
  })
  const bar = bars.create(0, 0)
  const update = () => {
    const { rows, expected } = status()
    bar.setTotal(Math.max(expected, rows))
    bar.update(rows)
  }
  bars.update()
  return {
    update,
    log: (text) => bars.log(text),
    stop() {
      // Writes what was logged since the last update.
      bars.update()
      bars.stop()
    },
  }
}
