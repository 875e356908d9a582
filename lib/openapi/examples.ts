import { BASE } from '../app.ts'
import type { Operation } from '../operation.ts'
import type { Json } from './json-schema.ts'

/** The day and the number of rows that examples show, and the day for which to seed the demo data. */
export const EXAMPLE = { day: '2026-11-02', seeded: '2026-11-05', rows: 2 } as const

/** Requests each operation from a service with the demo data. Returns the bodies by path, cut to the first rows. */
export async function captureExamples(
  operations: readonly Operation[],
  { url, key, brandId }: { url: string; key: string; brandId: string },
): Promise<Record<string, Json>> {
  const examples: Record<string, Json> = {}
  for (const { path, paged } of operations) {
    const query = paged ? `?brandId=${brandId}&fromDate=${EXAMPLE.day}&toDate=${EXAMPLE.day}` : ''
    const response = await fetch(url + BASE + path + query, { headers: { 'X-API-Key': key } })
    const body = await response.json()
    examples[path] = { ...body, data: body.data.slice(0, EXAMPLE.rows) }
  }
  return examples
}
