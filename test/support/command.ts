import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs a file of cli/ as a shell would, in an environment of its own. */
export function runCommand(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const env = { PATH: process.env.PATH, ...environment }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [`cli/${file}`, ...args],
      { cwd: ROOT, env },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
    child.stdin?.end()
  })
}
