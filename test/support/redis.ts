import { Redis } from 'ioredis'

/** Claims an empty logical database of a Redis server; `release` empties it again. */
export async function claimRedis(serverUrl: string): Promise<{ url: string; release: () => Promise<void> }> {
  for (let index = 1; index < 16; index += 1) {
    const url = new URL(serverUrl)
    url.pathname = `/${index}`
    const redis = new Redis(url.href)
    if ((await redis.dbsize()) === 0) {
      return {
        url: url.href,
        release: async () => {
          await redis.flushdb()
          await redis.quit()
        },
      }
    }
    await redis.quit()
  }
  throw new Error('No empty database is left on the Redis server of REDIS_URL')
}
