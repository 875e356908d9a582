import { BASE } from '../app.ts'
import type { Operation } from '../operation.ts'
import type { Json } from './parts.ts'

/** The day of the demo data that the examples show, and a day on which such a demo holds it. */
export const EXAMPLE = { day: '2026-11-02', seeded: '2026-11-05', rows: 2 } as const

/** Asks a service that serves the demo data for an answer of each operation, shortened to its first rows. */
export async function captureExamples(
  operations: readonly Operation[],
  { url, key, brandId }: { url: string; key: string; brandId: string },
): Promise<Record<string, Json>> {
  const examples: Record<string, Json> = {}
  for (const { path, paged } of operations) {
    const query = paged ? `?brandId=${brandId}&fromDate=${EXAMPLE.day}&toDate=${EXAMPLE.day}` : ''
    const response = await fetch(url + BASE + path + query, { headers: { 'X-API-Key': key } })
    const answer = await response.json()
    examples[path] = { ...answer, data: answer.data.slice(0, EXAMPLE.rows) }
  }
  return examples
}
