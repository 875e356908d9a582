import { expect, test } from 'vitest'
import { startShare } from '../../fixtures/share.ts'
import { tenant } from '../../fixtures/tenant.ts'

const { db, publish, logged } = await startShare()

test('the Worker logs what it published, and that another publisher works', async () => {
  await tenant(db)
  const { rows } = await db.query<{ lease: string }>(`select daily.take_lease('a test') as lease`)
  const { number, until } = JSON.parse(rows[0]?.lease ?? '')
  await publish()
  const message = `Another publisher works: a test. Its lease ends at ${until}, unless it goes on.`
  await expect.poll(() => logged).toEqual([{ event: 'publish_busy', message }])
  await db.query('select daily.release_lease($1)', [number])
  await publish()
  await expect
    .poll(() => logged.slice(1))
    .toEqual([{ event: 'published', version: 1, objects: 1, bytes: expect.any(Number) }])
})
