import { spawnSync } from 'node:child_process'

/** Whether programs that a test runs are on this machine. */
export const hasAll = (...programs: readonly string[]): boolean =>
  programs.every((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined)
