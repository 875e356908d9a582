import { beforeAll, expect } from 'vitest'
import { brand, database } from '../fixtures/rows.ts'
import { browserTest } from '../fixtures/site/browser.ts'
import { openReferencePage, type ReferencePage } from '../fixtures/site/reference-page.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()

let its: Tenant
let second: string
let opened: ReferencePage

beforeAll(async () => {
  its = await tenant(db)
  second = await brand(db, its.org, { name: 'Second' })
})
const field = (id: string, name: string) => opened.field(id, name)
const brandOf = (id: string) => field(id, 'brandId').inputValue()
const topOf = (id: string) => opened.section(id).evaluate((element) => element.getBoundingClientRect().top)
const fragment = () => new URL(opened.page.url()).hash

browserTest('chooses a brand by its name, for every endpoint but those that list all', async () => {
  opened = await openReferencePage()
  const { useKey } = opened
  expect(await field('visibility', 'brandId').locator('option').allTextContents()).toEqual([
    'Use a key to list its brands',
  ])
  await useKey(its.key)
  expect(await brandOf('visibility')).not.toBe('')
  expect(await brandOf('days')).toBe('')
  await field('visibility', 'brandId').selectOption({ label: 'Second' })
  expect([await brandOf('sentiment'), await brandOf('days')]).toEqual([second, second])
  await field('days', 'brandId').selectOption({ label: 'All brands' })
  expect([await brandOf('sentiment'), await brandOf('days')]).toEqual([second, ''])
})

browserTest('keeps brand and dates in the address, which opens the same view', async () => {
  opened = await openReferencePage()
  const { page, useKey } = opened
  await useKey(its.key)
  await field('sentiment', 'brandId').selectOption(second)
  await field('sentiment', 'fromDate').fill('2026-10-01')
  await field('sentiment', 'cursor').fill('c1')
  const shared = `?brandId=${second}&fromDate=2026-10-01`
  expect(fragment()).toBe(`#sentiment-try${shared}`)
  await page.getByRole('link', { name: '/citations', exact: true }).first().click()
  await expect.poll(fragment).toBe(`#citations${shared}`)

  const address = page.url()
  await page.goto('about:blank')
  await page.goto(address)
  expect(await brandOf('visibility')).toBe(second)
  expect(await field('visibility', 'fromDate').inputValue()).toBe('2026-10-01')
  expect(await topOf('citations')).toBeLessThan(200)
  await useKey(its.key)
  expect(await field('visibility', 'brandId').locator('option:checked').textContent()).toBe('Second')
  expect(fragment()).toBe(`#citations${shared}`)
})

browserTest(
  'takes the values of an address that is opened later, also of a brand that the key does not read',
  async () => {
    opened = await openReferencePage()
    const { page, status, follow, send, useKey } = opened
    await useKey(its.key)
    await field('visibility', 'toDate').fill('2026-10-31')
    const foreign = '11111111-1111-4111-8111-111111111111'
    await follow(`#visibility-try?brandId=${foreign}&fromDate=2026-10-02&cursor=c&key=k`)
    await expect.poll(() => brandOf('visibility')).toBe(foreign)
    expect(await field('visibility', 'toDate').inputValue()).toBe('')
    expect(await field('visibility', 'cursor').inputValue()).toBe('')
    await useKey(its.key)
    expect(await page.locator('#own-state').textContent()).toBe('Choose a brand that the key reads.')
    expect(await page.locator('#own').isVisible()).toBe(true)
    const said = () => status('visibility').textContent()
    await expect.poll(said).toMatch(/^404 /)
    expect(await send('visibility')).toMatch(/^404 /)
    expect(fragment()).toBe(`#visibility-try?brandId=${foreign}&fromDate=2026-10-02`)
    // What is opened while a request runs is sent after it, not canceled.
    const late = Promise.withResolvers<void>()
    await page.route(
      ({ search }) => search.includes(foreign),
      () => late.promise,
    )
    await page.getByRole('button', { name: 'Use key' }).click()
    await expect.poll(said).toBe('Sending…')
    await follow(`#visibility-try?brandId=${second}`)
    await expect.poll(said).toMatch(/^200 /)
    late.resolve()
    // No address leaves the quotes of the command.
    const hostile = String(new URLSearchParams({ brandId: "1'; rm $& &x" }))
    await follow(`#own-form?${hostile}`)
    await expect.poll(() => page.locator('#own-request').textContent()).toContain(`?${hostile}&`)
    // The first screen follows its address, and another brand keeps what is chosen.
    const [period, chosen] = [page.locator('#own-controls').getByLabel('Period'), '&period=Last+7+days']
    for (const view of ['', chosen]) {
      await follow(`#own-form?brandId=${second}${view}`)
      await expect.poll(() => period.inputValue()).toBe(view ? 'Last 7 days' : 'Last 30 days')
    }
    await field('introduction', 'brandId').selectOption(its.brandId)
    expect(fragment()).toBe(`#own-form?brandId=${its.brandId}${chosen}`)
  },
)
