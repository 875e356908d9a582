import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { trial } from '../../faults/rounds.ts'
import { type FaultyServer, type NetworkFault, startTcpProxy } from '../../faults/tcp-proxy.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { claimRedis } from '../../fixtures/redis.ts'

let postgres: FaultyServer
let redis: FaultyServer | undefined
const redisUrl = process.env.REDIS_URL
const undo: (() => Promise<unknown>)[] = []

const { service, round } = trial(async () => {
  postgres = await startTcpProxy(inject('databaseUrl'), 5432)
  undo.push(postgres.close)
  if (!redisUrl) return { databaseUrl: postgres.url }
  const claimed = await claimRedis(redisUrl)
  redis = await startTcpProxy(claimed.url, 6379)
  undo.push(claimed.release, redis.close)
  return { databaseUrl: postgres.url, redisUrl: redis.url }
})

afterAll(async () => {
  for (const step of undo) await step()
})

const isWhole = async () => (await round()).every(({ outcome }) => outcome === 'whole')
const isCounted = async () => (await round()).every(({ counted }) => counted)
const back = { interval: 200 }

describe('Postgres', () => {
  test.each<NetworkFault>(['refuses', 'cuts', 'stalls', 'corrupts'])('that %s', async (fault) => {
    postgres.turn(fault)
    for (const { stage, outcome } of await round()) {
      expect(outcome, stage.name).toBe(stage.asks ? 'unavailable' : 'whole')
    }
    postgres.turn('fine')
    await expect.poll(isWhole, back).toBe(true)
  })

  test('that is slow', async () => {
    postgres.turn('slow')
    expect(await isWhole()).toBe(true)
    postgres.turn('fine')
  })

  test('whose faults change while requests are under way', async () => {
    const { pick, below } = seededRandom(1)
    const end = Date.now() + 8_000
    const changing = (async () => {
      while (Date.now() < end) {
        postgres.turn(pick<NetworkFault>(['fine', 'fine', 'slow', 'refuses', 'cuts', 'stalls', 'corrupts']))
        await delay(below(400))
      }
      postgres.turn('fine')
    })()
    const outcomes = new Set<string>()
    while (Date.now() < end) for (const { outcome } of await round()) outcomes.add(outcome)
    await changing
    expect(outcomes).toEqual(new Set(['whole', 'unavailable']))
    await expect.poll(isWhole, back).toBe(true)
  })
})

describe.skipIf(!redisUrl)('Redis', () => {
  const lost = () => service.log().filter((line) => line.includes('rate_limit_unavailable')).length

  test.each<NetworkFault>(['refuses', 'cuts', 'stalls', 'corrupts'])('that %s', async (fault) => {
    service.clearLog()
    redis?.turn(fault)
    const all = await round()
    expect(all.filter(({ outcome }) => outcome === 'unavailable').map(({ stage }) => stage.name)).toEqual([])
    // Replies share a connection: what is cut after one reply may still have brought it.
    const uncounted = all.filter(({ counted }) => !counted).length
    expect(uncounted).toBeGreaterThan(0)
    await expect.poll(lost).toBe(uncounted)
    redis?.turn('fine')
    await expect.poll(isCounted, back).toBe(true)
  })

  test('that is slow', async () => {
    redis?.turn('slow')
    expect(await isWhole()).toBe(true)
    redis?.turn('fine')
    await expect.poll(isCounted, back).toBe(true)
  })
})
