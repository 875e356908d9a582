import { afterAll, describe, expect, inject, test } from 'vitest'
import { trial } from '../../faults/rounds.ts'
import { type FaultyServer, type NetworkFault, startTcpProxy } from '../../faults/tcp-proxy.ts'
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
})

describe.skipIf(!redisUrl)('Redis', () => {
  const lost = () => service.log().filter((line) => line.includes('rate_budget_unavailable')).length

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
