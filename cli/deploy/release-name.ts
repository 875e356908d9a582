import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * What a release is called, on every Worker of it: its commit. A release that was broken off and is deployed again has
 * the same name, so that a rollback leaves all of it.
 */
export function releaseName(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '-changed')
  } catch {
    return 'no-commit'
  }
}
