import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answering, FAULTS, type Fault } from '../../faults/faults.ts'
import { trial } from '../../faults/trial.ts'

const { strike, round, silenced, expectNoSecretsLogged } = await trial()

/** Neon's proxy tries for this time to reach a compute that restarts. */
const COMPUTE_WAIT_MS = 3_000

const failed = (status: number, message: string, code = ''): Response =>
  Response.json({ message, code, severity: 'FATAL', detail: 'secret detail', where: 'select' }, { status })

const NEON_FAULTS: readonly Fault[] = [
  ...['08006', '57014', '57P01', ''].map((code) =>
    answering(`fails with SQLSTATE "${code}"`, () => failed(400, 'secret detail in select', code)),
  ),
  {
    name: 'reaches its restarted compute at the last attempt',
    harmless: true,
    strike: async (genuine) => {
      await delay(COMPUTE_WAIT_MS)
      return genuine()
    },
  },
  {
    name: 'does not reach its compute',
    strike: async () => {
      await delay(COMPUTE_WAIT_MS)
      return failed(500, "Couldn't connect to compute node")
    },
  },
]

/** The counter's own work is of no interest here, and takes long where it is embedded. */
const COUNT = answering('counts', () => Response.json({ result: [99, Date.now() + 12_000, 100] }))

test.each([...FAULTS, ...NEON_FAULTS].map((fault) => ({ ...fault, fault })))('Neon that $name', async ({
  fault,
  harmless,
}) => {
  strike((asked) => (asked === 'neon' ? fault : COUNT))
  for (const { path, outcome, asks } of await round())
    expect(outcome, path).toBe(asks && !harmless ? 'unavailable' : 'whole')
  expectNoSecretsLogged()
})

test.each([
  ['Neon that falls silent, at any point of its answer', ['neon']],
  ['Neon and Upstash that are silent at once', ['neon', 'upstash']],
])('%s', async (_, silent) => {
  for (const { path, outcome, asks } of await silenced((asked) => silent.includes(asked)))
    expect(outcome, path).toBe(asks ? 'unavailable' : 'whole')
})
