import { expect, test } from 'vitest'
import { FAULTS } from '../faults/faults.ts'
import { trial } from '../faults/trial.ts'

const { strike, round, silenced, log, expectNoSecretsLogged } = await trial()

const lost = () => log().filter((line) => line.includes('rate_limit_unavailable')).length

test.each(FAULTS.map((fault) => ({ ...fault, fault })))('Upstash that $name', async ({ fault, harmless }) => {
  strike((asked) => (asked === 'upstash' ? fault : undefined))
  const all = await round()
  expect(all.filter(({ outcome }) => outcome !== 'whole')).toEqual([])
  const uncounted = all.filter(({ counted }) => !counted).length
  if (!harmless) expect(uncounted).toBe(all.length)
  await expect.poll(lost).toBe(uncounted)
  expectNoSecretsLogged()
})

test('Upstash that falls silent, at any point of its answer', async () => {
  const all = await silenced((asked) => asked === 'upstash')
  expect(all.filter(({ outcome, counted }) => outcome === 'unavailable' || counted)).toEqual([])
  await expect.poll(lost).toBe(all.length)
})
