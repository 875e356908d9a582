import { expect, test } from 'vitest'
import { expectNoSecretsLogged } from '../faults/assertions.ts'
import { SILENCES } from '../faults/connections.ts'
import { FAULTS } from '../faults/faults.ts'
import { trial } from '../faults/rounds.ts'

const { service, stages, round, waves } = trial()

const lost = () => service.log().filter((line) => line.includes('rate_limit_unavailable')).length

test.each(FAULTS.upstash.map((fault) => ({ ...fault, fault })))('Upstash that $name', async ({
  fault,
  harmless,
}) => {
  service.clearLog()
  service.strike((asked) => (asked === 'upstash' ? fault : undefined))
  const all = await round()
  for (const { stage, outcome } of all) expect(outcome, stage.name).toBe('whole')
  const uncounted = all.filter(({ counted }) => !counted).length
  if (!harmless) expect(uncounted).toBe(stages().length)
  await expect.poll(lost).toBe(uncounted)
  expectNoSecretsLogged(service.log(), stages())
})

test('Upstash that falls silent, at any point of its answer', async () => {
  service.clearLog()
  const all = await waves('upstash', SILENCES)
  expect(all.filter(({ outcome, counted }) => outcome === 'unavailable' || counted)).toEqual([])
  await expect.poll(lost).toBe(all.length)
})
