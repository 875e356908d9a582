import { Cron } from 'croner'

/** A cron pattern of wrangler.toml and the Worker that it runs. */
export interface CronTrigger {
  worker: string
  pattern: string
}

/** Fires cron triggers in UTC as Cloudflare does, but none while the Worker's last run goes on. Returns a stop function. */
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
