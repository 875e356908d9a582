import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** The Chromium of the system, or the one that `CHROMIUM` names; empty where there is none. */
const PROGRAM =
  process.env.CHROMIUM ??
  spawnSync('sh', ['-c', 'command -v chromium || command -v google-chrome'], {
    encoding: 'utf8',
  }).stdout.trim()

export const hasBrowser = PROGRAM !== ''

/** Starts it without a window, and without its sandbox, which it has not as root. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: PROGRAM, chromiumSandbox: false })
