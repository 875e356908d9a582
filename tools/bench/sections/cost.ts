import { rowBytes } from '../million.ts'
import { type PageCost, pageCost } from '../page-cost.ts'
import { walk, withService } from '../pages.ts'
import { dollars } from '../prices.ts'
import type { Section } from '../section.ts'
import { alternate } from '../timing.ts'

/** What a million pages and a month of stored rows cost at list prices. */
export const section: Section = (setting) =>
  withService(setting, async (running) => {
    const { client, data, service, first } = running
    await walk(service.url, data).next()
    const transferredBytes = service.neon.receivedBytes
    setting.report('pages')
    const measured = await alternate<PageCost>(
      { page: () => pageCost(running, first, Math.max(0.5, setting.sized(2))) },
      5,
    )
    const row = await rowBytes(client, 'citation_share')
    return [
      dollars({
        requests: 1,
        workerCpuMs: measured('page', ({ worker }) => worker),
        postgresCpuMs: measured('page', ({ postgres }) => postgres),
        transferredBytes,
        redisCommands: measured('page', ({ commands }) => commands),
        storedBytes: Math.round(row.table + row.index),
      }),
    ]
  })
