import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string }

type Options = { readonly cwd?: string; readonly stdin?: string }

/** Runs a file of cli/ as a shell would, with only these environment variables and PATH. */
export function runCommand(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { cwd = ROOT, stdin = '' }: Options = {},
): Promise<CommandResult> {
  const env = { PATH: process.env.PATH, ...environment }
  return new Promise((done) => {
    const command = [resolve(ROOT, 'cli', file), ...args]
    const child = execFile(process.execPath, command, { cwd, env }, (_error, stdout, stderr) =>
      done({ code: child.exitCode ?? -1, stdout, stderr }),
    )
    child.stdin?.end(stdin)
  })
}
