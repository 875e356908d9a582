import { UsageError } from '../drizzle/db/connect.ts'

/** Runs a command's work; a mistake is one sentence on stderr and exit code 1, anything else keeps its stack. */
export async function run(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    console.error(error instanceof UsageError ? error.message : error)
  }
}
