import { expect, inject, test } from 'vitest'
import { startEmulator } from '../../../emulator/emulator.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'

const db = database()

test('a service without a secret signs cursors with one of its own', async () => {
  const its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 1001, first: '2026-10-01', days: 1 })
  const start = () =>
    startEmulator({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: inject('databaseUrl'),
      bundle: false,
      crons: false,
    })
  const services = [await start(), await start()] as const
  const page = (url: string, cursor: string) =>
    fetch(
      `${url}/api/export/v1/citations?${new URLSearchParams({ brandId: its.brandId, fromDate: '2026-10-01', cursor })}`,
      { headers: { 'X-API-Key': its.key } },
    )
  const { pagination } = await (await page(services[0].url, '')).json()
  const statuses = services.map(async ({ url }) => (await page(url, pagination.nextCursor)).status)
  expect(await Promise.all(statuses)).toEqual([200, 400])
  await Promise.all(services.map(({ close }) => close()))
})
