import { SingleBar } from 'cli-progress'

/** Returns a progress bar, on a terminal. */
export const createBar = (format: string): SingleBar | null =>
  process.stderr.isTTY ? new SingleBar({ format }) : null
