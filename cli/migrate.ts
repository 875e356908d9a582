import { migrate } from '../drizzle/migrate.ts'
import { withDatabase } from './database.ts'
import { run } from './run.ts'

await run(async () => {
  await withDatabase(migrate)
  console.log('The database has the current schema.')
})
