import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** What a loader finds in its environment. */
export type Environment = {
  /** The root of the host. */
  readonly EXPORT_API_URL: string
  readonly EXPORT_API_KEY: string
  /** The first day to load, `YYYY-MM-DD`. */
  readonly EXPORT_API_START_DATE: string
}

/** How a run has ended, and what it printed. The code is -1 after a signal. */
export type Ended = { readonly code: number; readonly output: string }

/** A loader: a command of the shell, or a function in this process. */
export type Loader = string | ((environment: Environment) => Promise<Ended>)

const TIMEOUT_MS = 600_000

/**
 * Runs a loader in a folder, for at most ten minutes, or until `killed`, which does not reach a function. Ends the processes
 * that it leaves.
 */
export async function runLoader(
  loader: Loader,
  environment: Environment,
  folder: string,
  killed?: AbortSignal,
): Promise<Ended> {
  if (typeof loader !== 'string') return loader(environment)
  // In a process group of its own, which ends with all its children.
  const child = spawn(loader, {
    cwd: folder,
    env: { ...process.env, ...environment },
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  const timer = setTimeout(endGroup, TIMEOUT_MS)
  process.once('exit', endGroup)
  killed?.addEventListener('abort', endGroup)
  function endGroup() {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // All its processes have ended.
    }
  }
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  process.off('exit', endGroup)
  endGroup()
  return { code: code ?? -1, output: (await printed).join('') }
}
