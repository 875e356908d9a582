import { beforeAll, expect, test } from 'vitest'
import { expectNoSecretsLogged } from '../../faults/assertions.ts'
import { cut } from '../../faults/connections.ts'
import { answering, type Fault } from '../../faults/fault.ts'
import { FAULTS } from '../../faults/faults.ts'
import {
  ENDPOINTS,
  expectWholeOrFailed,
  type FileClient,
  type Files,
  FORMATS,
  fileService,
  STATEMENTS,
  type Trouble,
  viaCurl,
  viaFetch,
} from '../../faults/files.ts'
import { scaledTimeout, tries } from '../../fixtures/effort.ts'
import { hasAll } from '../../fixtures/programs.ts'
import { type Random, seededRandom } from '../../fixtures/random.ts'
import { database } from '../../fixtures/rows.ts'
import type { Tenant } from '../../fixtures/tenant.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_122)
const TRIES = tries(100)
const CLIENTS = 20
const RECEIVERS = [...Array.from({ length: 9 }, () => viaFetch), hasAll('curl') ? viaCurl : viaFetch]

/** As many requests for one statement as end a file. */
const ALL_ATTEMPTS = 6

const db = database()
const { addClient, addFiles, log } = fileService()

let shared: Files
beforeAll(async () => {
  shared = await addFiles()
})

type Affected = { readonly client: FileClient; readonly owner: Tenant; readonly leaving: AbortController }

/** What happens in the middle of a file. */
type Event = {
  readonly name: string
  readonly troubles: (roll: Random, affected: Affected) => readonly Trouble[]
  /** Whether no file survives it. */
  readonly isFinal?: boolean
  /** Whether it affects all keys of the tenant. */
  readonly isShared?: boolean
}

const EVENTS: readonly Event[] = [
  { name: 'the database fails', troubles: (roll) => [databaseFault(roll)] },
  { name: 'the counter fails', troubles: (roll) => [counterFault(roll)] },
  { name: 'both fail', troubles: (roll) => [databaseFault(roll), counterFault(roll)] },
  {
    name: 'the key is revoked',
    isFinal: true,
    troubles: (roll, { client }) => [
      meanwhile(roll, () => db.query('update api_keys set revoked_at = now() where id = $1', [client.keyId])),
      counterFault(roll),
    ],
  },
  {
    name: 'the plan is lowered',
    isFinal: true,
    isShared: true,
    troubles: (roll, { owner }) => {
      const lower = [owner.org.id, roll.pick(['pro', 'lite'])]
      const sql = 'update subscriptions set plan = $2 where organization_id = $1'
      return [meanwhile(roll, () => db.query(sql, lower)), counterFault(roll)]
    },
  },
  {
    name: 'the client leaves',
    troubles: (roll, { leaving }) => [meanwhile(roll, () => leaving.abort()), counterFault(roll)],
  },
]

const databaseFault = (roll: Random): Trouble => ({
  service: 'neon',
  from: roll.below(STATEMENTS),
  lasting: roll.pick([1, 2, ALL_ATTEMPTS]),
  fault: roll.pick([cutAnywhere(roll), roll.pick(FAULTS.neon)]),
})

const counterFault = (roll: Random): Trouble => ({
  service: 'upstash',
  from: roll.below(STATEMENTS),
  ...roll.pick([
    { lasting: 1, fault: withRequestsLeft(roll.pick([-1, 3])) },
    { lasting: Number.POSITIVE_INFINITY, fault: roll.pick([cutAnywhere(roll), roll.pick(FAULTS.upstash)]) },
  ]),
})

function cutAnywhere(roll: Random): Fault {
  const part = roll.below(1000) / 1000
  return cut(`cuts the connection after ${part} of its answer`, 'cut', (size) => part * size)
}

/** A budget with fewer requests than a file leaves to its client, or none, until a refill. */
const withRequestsLeft = (remaining: number): Fault =>
  answering(`has ${remaining} requests left`, () => Response.json({ result: [remaining, 1] }))

/** Does something while a statement after the first one is under way. */
const meanwhile = (roll: Random, work: () => unknown): Trouble => ({
  service: 'neon',
  from: 1 + roll.below(STATEMENTS - 1),
  lasting: 1,
  fault: {
    name: 'is asked meanwhile',
    strike: async (genuine) => {
      await work()
      return genuine()
    },
  },
})

/** What becomes of one client's file, and whether the event came after its first rows. */
async function attempt(roll: Random): Promise<{ name: string; isLater: boolean; outcome: string }> {
  const { name, troubles, isFinal, isShared } = roll.pick(EVENTS)
  const { owner, files } = isShared ? await addFiles([roll.pick(ENDPOINTS)], [roll.pick(FORMATS)]) : shared
  const { target, whole } = roll.pick(files)
  const client = await addClient(owner)
  const leaving = new AbortController()
  client.troubles = troubles(roll, { client, owner, leaving })
  const from = client.troubles[0]?.from ?? 0

  const headers = { ...client.headers, 'Accept-Encoding': roll.pick(['gzip', 'identity']) }
  const receive = name === 'the client leaves' ? viaFetch : roll.pick(RECEIVERS)
  const transfer = await receive(target, { headers, signal: leaving.signal })
  const hasBegun = transfer.status === 200
  const isLater = from > 0 && hasBegun
  if (leaving.signal.aborted) {
    const outcome = await loggedOutcome(client)
    expect(outcome).not.toBe('failed')
    // The Worker notices at the second write at the latest.
    expect(client.asked.neon).toBeLessThanOrEqual(from + 2)
    return { name, isLater, outcome }
  }
  const outcome = expectWholeOrFailed(transfer, { whole, statuses: [401, 403, 429, 503] })
  if (isFinal) expect(outcome).toBe('failed')
  if (hasBegun) expect(await loggedOutcome(client)).toBe(outcome === 'whole' ? 'complete' : 'failed')
  return { name, isLater, outcome }
}

/** What the Worker's log says of the end of a client's file. */
async function loggedOutcome({ id }: FileClient): Promise<string> {
  const isEnd = (line: string) => line.includes('"event":"file"') && line.includes(id)
  await expect.poll(() => log.some(isEnd)).toBe(true)
  return JSON.parse(log.find(isEnd) ?? '').outcome
}

test(
  `a file is whole or fails, whatever happens and when (HOSTILE_SEED=${SEED})`,
  async () => {
    const outcomes: Awaited<ReturnType<typeof attempt>>[] = []
    let started = 0
    const work = Array.from({ length: CLIENTS }, async () => {
      while (started < TRIES) {
        started += 1
        outcomes.push(await attempt(seededRandom(SEED + started)))
      }
    })
    await Promise.all(work)
    expect(outcomes.filter(({ isLater }) => isLater).length).toBeGreaterThan(TRIES / 2)
    expectNoSecretsLogged(log, [])
  },
  scaledTimeout(120_000),
)
