import { setTimeout as delay } from 'node:timers/promises'

const DAY = 86_400_000

/** Waits for the next day (UTC) when this one has less than `margin` milliseconds left. */
export async function clearOfMidnight(margin: number): Promise<void> {
  const left = DAY - (Date.now() % DAY)
  if (left < margin) await delay(left + 50)
}

/** A UTC day some days before today, `YYYY-MM-DD`; negative for days to come. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
