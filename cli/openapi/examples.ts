import { DEMO } from '../../drizzle/seed/demo.ts'
import { withDemoService } from '../../emulator/fixed-demo.ts'
import { BASE } from '../../lib/http/app.ts'
import type { Operation } from '../../lib/page/operation.ts'
import type { Parameters } from '../../lib/page/request.ts'
import type { Json } from '../../site/reference/openapi/json-schema.ts'
import { documentedParameters } from '../../site/reference/openapi/operation.ts'

/**
 * The day and the number of rows that examples show, the day for which to seed the demo data, and when all of it last
 * changed.
 */
export const EXAMPLE = {
  day: '2026-11-02',
  seeded: '2026-11-05',
  changed: '2026-11-03T04:31:07.123456Z',
  rows: 2,
} as const

/** An example of each parameter. A cursor belongs to one request, so only the empty one is an example for all. */
export const PARAMETER_EXAMPLES = {
  endpoint: 'sentiment',
  brandId: DEMO.brandId,
  since: `${EXAMPLE.day}T00:00:00.000000Z`,
  fromDate: EXAMPLE.day,
  toDate: EXAMPLE.day,
  cursor: '',
  format: 'json',
} satisfies Record<keyof Parameters, string>

/** Returns an example of each operation's body, by path, from a service with the demo data. */
export const examplesOfDemo = (operations: readonly Operation[]): Promise<Record<string, Json>> =>
  withDemoService({ day: EXAMPLE.seeded, changed: EXAMPLE.changed }, (url) =>
    captureExamples(operations, url),
  )

/** Requests each operation, and cuts its body to the first rows. */
async function captureExamples(operations: readonly Operation[], url: string): Promise<Record<string, Json>> {
  const examples: Record<string, Json> = {}
  for (const { path, kind } of operations) {
    const names = documentedParameters(kind)
    const query = Object.entries(PARAMETER_EXAMPLES).filter(([name]) => names.includes(name))
    const response = await fetch(`${url}${BASE}${path}?${new URLSearchParams(query)}`, {
      headers: { 'X-API-Key': DEMO.key },
    })
    const body = await response.json()
    examples[path] = { ...body, data: body.data.slice(0, kind === 'days' ? 1 : EXAMPLE.rows) }
  }
  return examples
}
