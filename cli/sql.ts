import { UsageError } from '../drizzle/db/connect.ts'
import { callOf } from '../lib/database/statement.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'
import { findWorkers } from './workers/find-workers.ts'

const [endpoint] = createCommand('sql', {
  description: 'Prints the statements of an endpoint, with the calls of their functions.',
})
  .argument('<endpoint>', 'name of a file of functions/')
  .parse().args

await run(async () => {
  const workers = await findWorkers()
  const worker = workers.find(({ name }) => name === endpoint)
  if (worker === undefined) throw new UsageError(`Use one of ${workers.map(({ name }) => name).join(', ')}.`)
  for (const [name, statement] of Object.entries(worker.statements)) {
    const parameters = statement.parameters.map((parameter, index) => `$${index + 1} ${parameter}`).join(', ')
    console.log(`-- ${name}: ${(await callOf(statement)).sql}\n-- ${parameters}\n${statement.sql.trim()}\n`)
  }
})
