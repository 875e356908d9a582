import { SERVICE, startWays } from '../workerd.ts'
import { listening, told } from './listening.ts'

// The service's Worker by itself, as Cloudflare runs it: no Worker of miniflare's stands in front.
const { databaseUrl, redisUrl } = told()
const { urlOf } = await startWays(databaseUrl, redisUrl)
listening(await urlOf(SERVICE))
