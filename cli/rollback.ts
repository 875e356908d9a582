import { Command } from 'commander'
import { readWranglerFile } from '../bundle/wrangler-config.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { missingAccount } from './deploy/account.ts'
import { inOrder, withPrivateFolder, wranglerConfig } from './deploy/config.ts'
import { type Return, returnsOf, rollBack } from './deploy/rollback.ts'
import { loadDevVars } from './dev-vars.ts'
import { run } from './run.ts'
import { originOf, reportSmoke } from './smoke/report.ts'

const { dryRun } = new Command('rollback')
  .description('Puts every Worker back to the release before the newest. The database stays as it is.')
  .option('--dry-run', 'say what would be done, and do nothing')
  .parse()
  .opts<{ dryRun?: boolean }>()

const describe = ({ name, live, to }: Return): string =>
  `${name.padEnd(20)} ${live.release} ${to === undefined ? 'stays' : `goes back to ${to.release}`}`

await run(async () => {
  loadDevVars()
  const missing = await missingAccount(process.env)
  if (missing.length > 0) throw new UsageError(missing.join('\n'))
  const file = await readWranglerFile()
  await withPrivateFolder(async (write) => {
    const config = await write('wrangler.json', wranglerConfig(file))
    // The document goes first: it must promise nothing that is not there any more.
    const names = inOrder(file).map(({ name }) => name)
    const returns = await returnsOf(config, names.toReversed())
    for (const each of returns) console.log(describe(each))
    if (!dryRun) await rollBack(config, returns)
  })
  if (dryRun) return
  console.log('They are back. The database keeps the new schema, on which they work.')
  const { API_URL, EXPORT_API_KEY } = process.env
  if (API_URL) await reportSmoke({ url: originOf(API_URL), key: EXPORT_API_KEY })
})
