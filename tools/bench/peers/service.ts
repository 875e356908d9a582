import { SERVICE, startWays } from '../workerd.ts'
import { listening, toBudget } from './listening.ts'

// The service's Worker by itself, as Cloudflare runs it: no Worker of miniflare's stands in front.
const { databaseUrl, redisUrl } = toBudget()
const { urlOf } = await startWays(databaseUrl, redisUrl)
listening(await urlOf(SERVICE))
