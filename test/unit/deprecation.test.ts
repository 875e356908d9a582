import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { dailySentiment } from '../../drizzle/metrics/sentiment.ts'
import { BINDINGS } from '../../emulator/workers/bindings.ts'
import { openapi } from '../../lib/openapi/document.ts'
import { paged } from '../../lib/paged.ts'
import { day } from '../../lib/schemas.ts'

const Row = z.object({ date: day('A day.') })

const going = (deprecated?: { since: string; sunset: string; link: string }) =>
  paged({
    path: '/going',
    summary: 'Something that will go',
    description: 'It goes.',
    row: Row,
    primaryKey: ['date'],
    rows: dailySentiment,
    key: ['date'],
    ...(deprecated && { deprecated }),
  })

const ANNOUNCED = { since: '2026-11-01', sunset: '2027-06-01', link: 'https://example.com/instead' }

// An error that needs no server: the method is checked first.
const refusalOf = ({ fetch }: ReturnType<typeof paged>) =>
  fetch(new Request('http://localhost/api/export/v1/going', { method: 'POST' }), BINDINGS)

test('every response of a deprecated endpoint says so, errors too', async () => {
  const { status, headers } = await refusalOf(going(ANNOUNCED))
  expect(status).toBe(405)
  expect(headers.get('Deprecation')).toBe('@1793491200')
  expect(headers.get('Sunset')).toBe('Tue, 01 Jun 2027 00:00:00 GMT')
  expect(headers.get('Link')).toBe('<https://example.com/instead>; rel="deprecation"')
  const stays = (await refusalOf(going())).headers
  for (const name of ['Deprecation', 'Sunset', 'Link']) expect(stays.has(name)).toBe(false)
})

test('the document marks it, and describes its headers', () => {
  const described = (deprecated?: typeof ANNOUNCED) =>
    JSON.stringify(openapi([{ ...going(deprecated).operation, rowName: 'GoingRow' }], {}))
  expect(JSON.parse(described(ANNOUNCED)).paths['/api/export/v1/going'].get).toMatchObject({
    deprecated: true,
    responses: { 200: { headers: { Deprecation: {}, Sunset: {}, Link: {} } } },
  })
  expect(described()).not.toMatch(/deprecat|Sunset/i)
})
