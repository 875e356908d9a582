import { spawnSync } from 'node:child_process'

/** Whether programs that a test runs are on this machine. CI has them all: there, a missing one fails the test. */
export const hasAll = (...programs: readonly string[]): boolean =>
  process.env.CI === 'true' ||
  programs.every((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined)
