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
  const format: GenericFormatter = (options, { progress, eta }) => {
    const { activity, seconds, rows, expected, requests, waiting, waitLeft } = status()
    if (rows >= expected)
      return waiting > 0
        ? `${activity} · retries in ${Math.ceil(waiting)} s`
        : `${activity} · ${Math.floor(seconds)} s`
    // The pace until now, or NULL or INF, is not the one after the burst.
    const left = Math.ceil(Math.max(Number(eta) || 0, waiting, waitLeft))
    const bar = cliProgress.Format.BarFormat(progress, options)
    const time = cliProgress.Format.TimeFormat(left, options, 5)
    return `${bar} ${formatNumber(rows)}/${formatNumber(expected)} rows · ${counted(requests, 'request')} · ${time} left`
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
