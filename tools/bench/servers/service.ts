import { startService } from '../workerd.ts'
import { listening, serverOptions } from './child.ts'

const { databaseUrl, redisUrl } = serverOptions()
listening((await startService(databaseUrl, redisUrl)).url)
