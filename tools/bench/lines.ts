import type { Field } from './contest.ts'
import { type Cost, pageCost, redisProcess } from './page-cost.ts'
import { inTurns, median } from './rounds.ts'

/** The pages that are compared. */
export const PAGES = ['first', 'deep'] as const

/** One entrant's page as it is compared: the median of what its rounds cost. */
export type Line = {
  readonly name: string
  readonly page: (typeof PAGES)[number]
  readonly bytes: number
  readonly middle: (of: (cost: Cost) => number) => number
}

/** Measures each page of each entrant in turns; one that fails in a round is out, with the reason. */
export async function measureLines(
  { client, contest, entrants, failed }: Field,
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<{ lines: readonly Line[]; failed: Field['failed'] }> {
  const redisPid = await redisProcess(contest.redisUrl)
  const out = new Map<string, string>()
  const all = entrants.flatMap((entrant) =>
    PAGES.map((page) => ({ label: `${entrant.name}, ${page}`, entrant, page })),
  )
  const measured = await inTurns<Cost | null>(
    Object.fromEntries(
      all.map(({ label, entrant, page }) => [
        label,
        async () => {
          if (out.has(label)) return null
          try {
            const { running } = entrant
            return await pageCost(client, { running, page: entrant[page], redisPid, connections, seconds })
          } catch (error) {
            out.set(label, error instanceof Error ? error.message : String(error))
            return null
          }
        },
      ]),
    ),
    rounds,
  )
  const lines = all.map(({ label, entrant, page }) => {
    const costs = measured(label).filter((cost) => cost !== null)
    return {
      label,
      name: entrant.name,
      page,
      bytes: entrant[page].expected.length,
      middle: (of: (cost: Cost) => number) => median(costs.map(of)),
    }
  })
  return {
    lines: lines.filter(({ label }) => !out.has(label)),
    failed: [...failed, ...[...out].map(([name, reason]) => ({ name: `${name} page`, reason }))],
  }
}
