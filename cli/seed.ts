import { refreshAll } from '../drizzle/daily/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { withDatabase } from './database.ts'
import { run } from './run.ts'

await run(() =>
  withDatabase(async (client) => {
    await seedDemo(client, new Date().toISOString().slice(0, 10))
    await refreshAll(client)
    console.log('The demo data is in place.')
  }),
)
