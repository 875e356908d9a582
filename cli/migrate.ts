import { withDatabase } from './database.ts'
import { run } from './run.ts'
import { bringToCurrent } from './schema.ts'

await run(async () => {
  await withDatabase(bringToCurrent)
  console.log('The database has the current schema.')
})
