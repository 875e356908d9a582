import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type pg from 'pg'
import { inject } from 'vitest'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { refresh } from '../../../test/fixtures/rows.ts'
import type { Scene } from '../../../test/fixtures/scene.ts'
import { startFaultProxy } from '../../certify/fault-proxy.ts'
import { addDays } from '../cli/days.ts'
import { start } from './copy-command.ts'

type Killed = {
  readonly db: pg.Pool
  readonly its: Scene
  /** The first of 60 days that have answers. */
  readonly first: string
  readonly copy: string
  readonly kills: number
  /** A bucket's service. */
  readonly bucketUrl?: string
  readonly env?: Readonly<Record<string, string>>
  /** Runs after each kill. */
  readonly check?: () => Promise<void>
}

/** Kills a sync soon after one of its requests, again and again, while days change. */
export async function killSync(options: Killed): Promise<void> {
  const { db, its, first, copy, kills, bucketUrl, env, check } = options
  const { below, pick } = seededRandom(20_261_123)
  let child: ChildProcess | undefined
  let requests = 0
  const meet = () => {
    requests -= 1
    if (requests === 0) setTimeout(() => child?.kill('SIGKILL'), below(60))
    return null
  }
  const service = await startFaultProxy(inject('serviceUrl'), meet)
  const bucket = bucketUrl === undefined ? undefined : await startFaultProxy(bucketUrl, meet)
  const access = {
    ...its,
    url: service.url,
    env: { ...env, ...(bucket && { AWS_ENDPOINT_URL_S3: bucket.url }) },
  }
  const remove = (from: string, to: string) =>
    db.query('delete from answers where prompt_id = $1 and answered_at >= $2 and answered_at < $3', [
      its.prompt,
      from,
      to,
    ])
  let killed = 0
  for (let round = 0; killed < kills && round < 4 * kills; round += 1) {
    const day = addDays(first, below(60))
    const citations = [{ url: `https://site.example/${round}` }]
    const restate = pick([
      () => its.say(`${day}T00:00:00Z`, { mentions: ['Acme'], citations }),
      () => remove(day, addDays(day, 1)),
      () => remove('2026-10-01', '2026-11-01'),
      () => db.query('update competitors set name = $2 where brand_id = $1', [its.brandId, `Rival ${round}`]),
    ])
    await restate()
    await refresh(db)
    requests = 1 + below(bucket === undefined ? 9 : 40)
    child = start(access, ['sync', '--out', copy])
    const [, signal] = await once(child, 'close')
    if (signal !== 'SIGKILL') continue
    killed += 1
    await check?.()
  }
  await service.close()
  await bucket?.close()
}
