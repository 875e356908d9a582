import type { Client } from 'pg'
import { counted, forTerminal } from '../connectors/typescript/cli/text.ts'
import { UsageError, withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { restateDemo } from '../drizzle/seed/restate.ts'
import { awaitRunning } from '../emulator/running-service.ts'
import { describeCause } from '../site/reference/causes.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'

createCommand('restate', {
  description:
    'Changes the past of the demo that npm start runs: late citations, a retired prompt, an alias, an edited answer.',
}).parse()

await run(async () => {
  const service = await awaitRunning()
  if (service === undefined) throw new UsageError('No demo runs here. Run npm start in another terminal.')
  const { url, demo } = service
  if (demo === undefined)
    throw new UsageError(
      `The service at ${url} uses your database. restate changes only the demo of npm start.`,
    )
  const named = process.env.DATABASE_URL
  if (named && named !== demo.databaseUrl)
    throw new UsageError(
      'restate changes only the demo of npm start, and DATABASE_URL names another database.',
    )
  await withClient(demo.databaseUrl, async (client) => {
    await refreshAll(client)
    const start = await lastChange(client)
    let since = start
    for await (const sentence of restateDemo(client, new Date().toISOString().slice(0, 10))) {
      print(sentence)
      await printChanges(client, since)
      since = await lastChange(client)
    }
    console.log(`
Read them:
KEY=${demo.key}
curl -w '\\n' -H "X-API-Key: $KEY" \\
"${url}/api/export/v1/days?since=${start}"
Copy them: npm run sync`)
  })
})

/** Prints a line, which ends before words that do not fit on a terminal. */
function print(text: string): void {
  console.log(forTerminal(text, process.stdout.columns))
}

/** Returns the greatest `changed_at`. */
async function lastChange(client: Client): Promise<string> {
  const { rows } = await client.query(`select coalesce(max(changed_at), '') as last from daily.changes`)
  return rows[0].last
}

/** Prints the days that changed since a `changed_at`, and why. */
async function printChanges(client: Client, since: string): Promise<void> {
  const { rows } = await client.query(
    `select cause, string_agg(distinct endpoint, ', ') as endpoints, count(distinct date)::int as days,
       min(date)::text as first, max(date)::text as last
     from daily.changes cross join json_each_text(causes) as causes (cause, at)
     where at > $1 group by cause order by cause`,
    [since],
  )
  for (const { cause, endpoints, days, first, last } of rows) {
    const when = first === last ? first : `between ${first} and ${last}`
    print(`- ${counted(days, 'day')} changed, ${when}, ${describeCause(cause)}: ${endpoints}`)
  }
}
