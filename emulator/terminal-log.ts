import { parseLog, readableLine } from './log-line.ts'

/** What the service does by itself. npm start -- --json prints it. */
const INTERNAL = new Set(['published', 'refreshed'])

/** A burst of requests ends with a pause. */
const PAUSE_MS = 2_000

/** Returns what prints the lines of Workers for a person: in a burst, a request like an earlier one is only counted. */
export function terminalLog(print: (line: string) => void): (line: string) => void {
  const shown = new Set<string>()
  let more = 0
  let pause: NodeJS.Timeout | undefined
  const endBurst = () => {
    if (more > 0) print(`… ${more} more like these`)
    more = 0
    shown.clear()
  }
  return (line) => {
    const log = parseLog(line)
    if (log !== undefined && INTERNAL.has(log.event)) return
    if (log?.event === 'request') {
      clearTimeout(pause)
      pause = setTimeout(endBurst, PAUSE_MS)
      const request = [log.method, log.endpoint, log.status].join(' ')
      if (shown.has(request)) {
        more += 1
        return
      }
      shown.add(request)
    }
    print(readableLine(line))
  }
}
