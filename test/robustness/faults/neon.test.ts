import { expect, test } from 'vitest'
import { expectNoSecretsLogged } from '../../faults/assertions.ts'
import { SILENCES } from '../../faults/connections.ts'
import { answering } from '../../faults/fault.ts'
import { FAULTS } from '../../faults/faults.ts'
import { trial } from '../../faults/rounds.ts'

const { service, stages, round, waves } = trial()

/** The counter's own work is of no interest here, and takes long where it is embedded. */
const COUNT = answering('counts', () => Response.json({ result: [99, Date.now() + 12_000, 100] }))

test.each(FAULTS.neon.map((fault) => ({ ...fault, fault })))('Neon that $name', async ({
  fault,
  harmless,
}) => {
  service.clearLog()
  service.strike((asked) => (asked === 'neon' ? fault : COUNT))
  const away = (await round()).filter(({ outcome }) => outcome === 'unavailable')
  if (harmless) expect(away.map(({ stage }) => stage.name)).toEqual([])
  else expect(away.length).toBeGreaterThan(0)
  for (const { stage } of away) expect(stage.asks, stage.name).toBe(true)
  expectNoSecretsLogged(service.log(), stages())
})

test('Neon that falls silent, at any point of its answer', async () => {
  for (const { stage, outcome } of await waves('neon', SILENCES)) {
    expect(outcome, stage.name).toBe(stage.asks ? 'unavailable' : 'whole')
  }
})

test('Neon and Upstash that are silent at once', async () => {
  service.strike(() => SILENCES[0])
  for (const { stage, outcome } of await round()) {
    expect(outcome, stage.name).toBe(stage.asks ? 'unavailable' : 'whole')
  }
})
