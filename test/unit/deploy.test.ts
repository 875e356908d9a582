import { expect, test } from 'vitest'
import { readSettings, regionOf, secretsFor, throughPooler } from '../../cli/deploy/settings.ts'
import { inOrder, wranglerConfig } from '../../cli/deploy/workers.ts'
import { readWranglerFile, withBucket, withPrefix, workersOf } from '../../cli/workers/wrangler-config.ts'
import { DEPLOY_ENVIRONMENT as ENVIRONMENT } from '../fixtures/deploy-environment.ts'

const file = await readWranglerFile()
const { settings, errors: none } = readSettings(ENVIRONMENT)

test('each missing setting is one sentence, all at once', () => {
  expect(none).toEqual([])
  const { errors } = readSettings({})
  expect(errors.map((line) => line.split(' ')[0])).toEqual(Object.keys(ENVIRONMENT))
  for (const line of errors) expect(line).toMatch(/^\w+ is not set\. Set it to .*\.$/)
})

const NEON = 'eu-central-1.aws.neon.tech/export?sslmode=require'

test.for([
  ['CLOUDFLARE_ZONE', 'https://example.com'],
  ['API_URL', 'http://api.example.com'],
  ['API_URL', 'https://api.example.com/api/export/v1'],
  ['API_URL', 'https://example.org'],
  ['MIGRATE_DATABASE_URL', 'mysql://owner:pw-owner@host/export'],
  ['MIGRATE_DATABASE_URL', `postgresql://owner:pw-owner@ep-a-1-pooler.${NEON}`],
  ['DATABASE_URL', `postgresql://owner:pw-owner@ep-a-1-pooler.${NEON}`],
  ['DATABASE_URL', `postgresql://export_api_reader:pw@ep-a-1.${NEON}`],
  ['DATABASE_URL', 'postgresql://export_api_reader:p/w@db.example.com/export?sslmode=require'],
  ['MIGRATE_DATABASE_URL', 'postgresql://owner:p#w@db.example.com/export?sslmode=require'],
  ['MIGRATE_DATABASE_URL', 'postgresql://owner:pw@db.example.com/export'],
  ['MIGRATE_DATABASE_URL', 'postgresql://owner:pw@db.example.com/?sslmode=require'],
  ['REFRESH_DATABASE_URL', 'postgresql://export_api_refresher:pw@db.example.com?sslmode=require'],
  ['DATABASE_URL', 'postgresql://export_api_reader@/export?host=db.example.com&sslmode=require'],
  ['MIGRATE_DATABASE_URL', 'postgresql://owner:pw@db.example.com/export?sslmode=prefer'],
  ['DATABASE_URL', 'postgresql://export_api_reader:pw@db.example.com/export?sslmode=no-verify'],
  ['REFRESH_DATABASE_URL', 'pw-refresher'],
  ['UPSTASH_REDIS_REST_URL', 'rediss://cache.upstash.io'],
  ['UPSTASH_REDIS_REST_URL', 'http://cache.upstash.io'],
  ['UPSTASH_REDIS_REST_URL', 'https://default:pw@cache.upstash.io'],
  ['CURSOR_SECRET', 'short'],
  ['CURSOR_SECRET_PREVIOUS', 'short'],
  ['SESSION_COOKIE', 'two words'],
  ['OUTER_LIMIT', 'none'],
  ['REFRESH_LANES', 'many'],
  ['URL_SECONDS', '59'],
  ['SHARE_BUCKET', 's3://bucket'],
  ['NAME_PREFIX', 'preview'],
  ['NAME_PREFIX', 'Preview-'],
  ['NAME_PREFIX', 'pre_view-'],
  ['NAME_PREFIX', 'pre.view-'],
  ['NAME_PREFIX', '-preview-'],
  ['NAME_PREFIX', '2nd-'],
  ['NAME_PREFIX', `${'p'.repeat(31)}-`],
])('%s=%s is one sentence that names the setting and not the value', ([name = '', value = '']) => {
  const { errors } = readSettings({ ...ENVIRONMENT, [name]: value })
  expect(errors).toEqual([expect.stringMatching(new RegExp(`^${name} .*\\.$`))])
  expect(errors.join()).not.toContain(value)
})

test.for([
  ['ep-a-1-pooler.us-east-2.aws.neon.tech', 'aws:us-east-2'],
  ['ep-a-1.c-2.ap-southeast-1.aws.neon.tech', 'aws:ap-southeast-1'],
  ['ep-a-1.eastus2.azure.neon.tech', undefined],
  ['db.example.com', undefined],
])('the region of %s is %s', ([host, region]) => {
  expect(regionOf(`postgresql://me:secret@${host}/x`)).toBe(region)
})

test.for([
  ['ep-a-1.us-east-2.aws.neon.tech', 'ep-a-1-pooler.us-east-2.aws.neon.tech'],
  ['ep-a-1.c-2.eastus2.azure.neon.tech:5432', 'ep-a-1-pooler.c-2.eastus2.azure.neon.tech:5432'],
  ['ep-a-1-pooler.us-east-2.aws.neon.tech', 'ep-a-1-pooler.us-east-2.aws.neon.tech'],
  ['db.example.com:5433', 'db.example.com:5433'],
  ['127.0.0.1:5432', '127.0.0.1:5432'],
] as const)('the pooler of %s is %s', ([host, pooler]) => {
  const url = (address: string) => `postgresql://me:se%2Fcret@${address}/x?sslmode=require`
  expect(throughPooler(url(host))).toBe(url(pooler))
})

test('the scheduled Workers are deployed first and the catch-all Worker last', () => {
  const names = inOrder(file).map(({ name }) => name)
  expect([...names.slice(0, 2), names.at(-1)]).toEqual(['refresh', 'share-publish', 'openapi'])
  expect(names.toSorted()).toEqual(Object.keys(file.env).toSorted())
})

test('each Worker gets its own secrets, the reference none', () => {
  const common = {
    UPSTASH_REDIS_REST_URL: ENVIRONMENT.UPSTASH_REDIS_REST_URL,
    UPSTASH_REDIS_REST_TOKEN: ENVIRONMENT.UPSTASH_REDIS_REST_TOKEN,
    CURSOR_SECRET: ENVIRONMENT.CURSOR_SECRET,
    CURSOR_SECRET_PREVIOUS: ENVIRONMENT.CURSOR_SECRET,
    SESSION_COOKIE: 'session',
    REFRESH_LANES: '2',
    URL_SECONDS: '3600',
  }
  for (const worker of workersOf(file)) {
    const DATABASE_URL =
      ENVIRONMENT[
        ['refresh', 'share-publish'].includes(worker.name) ? 'REFRESH_DATABASE_URL' : 'DATABASE_URL'
      ]
    const expected = ['docs', 'llms'].includes(worker.name) ? undefined : { DATABASE_URL, ...common }
    expect([worker.name, secretsFor(settings, worker)]).toEqual([worker.name, expected])
  }
})

test("wrangler gets the owner's host and region, no build command and no secret", () => {
  const config = wranglerConfig(file, settings)
  expect(config).toMatchObject({ placement: { region: 'aws:eu-central-1' }, workers_dev: false })
  expect(config).not.toHaveProperty('build')
  expect(config.env.brands).toMatchObject({
    routes: [{ pattern: 'api.example.com/api/export/v1/brands*', zone_name: 'example.com' }],
  })
  expect(config.env.docs?.routes).toEqual(
    ['/api/export/v1/docs*', '/', '/docs', '/docs/'].map((path) => ({
      pattern: `api.example.com${path}`,
      zone_name: 'example.com',
    })),
  )
  expect(JSON.stringify(config)).not.toMatch(/pw-|token-|cursor-secret/)
})

test('a prefix gives an environment its own Workers and its own counters of the outer limit', () => {
  const { NAME_PREFIX } = readSettings({ ...ENVIRONMENT, NAME_PREFIX: 'staging-' }).settings
  const staging = withPrefix(file, NAME_PREFIX)
  expect(staging.name).toBe('staging-export-api')
  expect(withPrefix(file, '')).toEqual(file)
  const counters = ['', 'staging-', 'test-'].map(
    (prefix) => withPrefix(file, prefix).ratelimits[0].namespace_id,
  )
  expect(new Set(counters).size).toBe(3)
  for (const counter of counters) expect(counter).toMatch(/^[1-9]\d{3,8}$/)
  expect(wranglerConfig(staging, settings).env.brands?.ratelimits?.[0].namespace_id).toBe(counters[1])
})

test('the Workers of the share are bound to the bucket, and left out without one', () => {
  const share = ['share', 'share-objects', 'share-publish']
  const bound = withBucket(file, 'brand-data').env
  for (const name of share) {
    expect(bound[name]?.r2_buckets).toEqual([{ binding: 'BUCKET', bucket_name: 'brand-data' }])
  }
  expect(Object.keys(withBucket(file, '').env)).toEqual(
    Object.keys(file.env).filter((name) => !share.includes(name)),
  )
  expect(bound.brands).toEqual(file.env.brands)
})

test('the Workers that answer requests with secrets have the outer limit of wrangler.toml, or of the setting', () => {
  const without = ['docs', 'llms', 'refresh', 'share-publish']
  for (const [OUTER_LIMIT, limit] of [
    ['', 600],
    ['50', 50],
  ] as const) {
    const { env } = wranglerConfig(file, { ...settings, OUTER_LIMIT })
    const limited = Object.entries(env).filter(([, { ratelimits }]) => ratelimits)
    expect(limited.map(([name]) => name)).toEqual(
      Object.keys(file.env).filter((name) => !without.includes(name)),
    )
    for (const [, { ratelimits }] of limited) {
      expect(ratelimits).toEqual([
        { name: 'OUTER_LIMITER', namespace_id: '1001', simple: { limit, period: 60 } },
      ])
    }
  }
})
