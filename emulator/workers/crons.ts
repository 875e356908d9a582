import { Cron } from 'croner'

/** When a Worker's scheduled handler runs, as wrangler.toml says it. */
export interface CronTrigger {
  worker: string
  pattern: string
}

/** Fires cron triggers as Cloudflare does, by UTC; one whose last run has not ended waits for the next time. */
export function scheduleCrons(triggers: CronTrigger[], run: (worker: string) => Promise<void>): () => void {
  const jobs = triggers.map(
    ({ worker, pattern }) =>
      new Cron(
        pattern,
        {
          timezone: 'UTC',
          protect: true,
          // Cloudflare counts weekdays from Sunday = 1.
          alternativeWeekdays: true,
          catch: (error) => console.error(`The scheduled Worker "${worker}" failed: ${error}`),
        },
        () => run(worker),
      ),
  )
  return () => {
    for (const job of jobs) job.stop()
  }
}
