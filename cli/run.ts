import { reportError } from './local/report-error.ts'

/** Runs a command. When it fails, the exit code is 1: an expected error is a message, any other error has its stack. */
export async function run(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    reportError(error)
  }
}
