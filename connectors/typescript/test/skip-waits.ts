import { afterEach, beforeEach, vi } from 'vitest'

/** Makes the waits of a client the longest that it chooses, and ends them at once. `performance` has their length. */
export function skipWaits(): void {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    vi.setTimerTickMode('nextTimerAsync')
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
}

/** Waits in the time of the client. */
export const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
