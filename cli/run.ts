import { explainError } from '../drizzle/db/explain-error.ts'
import { printError } from '../emulator/print-error.mjs'

/** Runs a command. An expected error is a message and exits with 1; any other error also prints its stack. */
export async function run(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    reportError(error)
  }
}

function reportError(error: unknown): void {
  const message = explainError(error)
  if (message === undefined) console.error(error)
  else printError(message)
}
