import { UsageError } from '../drizzle/db/connect.ts'

/** Runs a command. A `UsageError` prints its message and exits with 1; any other error also prints its stack. */
export async function run(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    console.error(error instanceof UsageError ? error.message : error)
  }
}
