import { InvalidArgumentError, Option } from 'commander'
import type { Client } from 'pg'
import * as z from 'zod/mini'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { untracked, verify } from '../drizzle/db/verify.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { uuid } from './options.ts'
import { run } from './run.ts'
import { openBucket } from './share/s3-bucket.ts'
import { countObjects, findWrongObjects } from './share/verify-objects.ts'

const day = (text: string): string => {
  if (z.iso.date().safeParse(text).success) return text
  throw new InvalidArgumentError('Use a date such as 2026-10-31.')
}

const rowsDiffer = (count: number): string => (count === 1 ? '1 row differs' : `${count} rows differ`)

const daysDiffer = (count: number): string => (count === 1 ? '1 day differs' : `${count} days differ`)

const options = createCommand('verify', {
  description:
    'Compares the daily tables with the views that define them, and the list of changes with the tables. Prints each difference.',
  variables: DATABASE_URL,
})
  .option('--brand <id>', 'only this brand', uuid)
  .option('--from <day>', 'first day', day)
  .option('--to <day>', 'last day', day)
  .addOption(
    new Option('--share', 'compare every object of the share with the daily tables instead').conflicts([
      'brand',
      'from',
      'to',
    ]),
  )
  .parse()
  .opts<{ brand?: string; from?: string; to?: string; share?: boolean }>()

await run(async () => {
  const { brand: brandId, from, to, share } = options
  if (share) return withDatabase(verifyShare)
  if (from && to && from > to) throw new UsageError('--from is after --to. Give the earlier day as --from.')
  await withDatabase(async (client) => {
    let wrong = 0
    let waiting = 0
    let unlisted = 0
    const failed = new Set<string>()
    for await (const found of verify(client, { brandId, from, to })) {
      if (found.kind === 'changes') unlisted += 1
      else if (found.kind === 'failed') failed.add(`${found.metric} ${found.row.brand_id} ${found.row.date}`)
      else if (found.waiting) waiting += 1
      else wrong += 1
      console.log(
        `${found.metric} ${found.kind}${found.waiting && found.kind !== 'failed' ? ' (in the refresh queue)' : ''} ${JSON.stringify(found.row)}`,
      )
    }
    if (waiting > 0) console.log(`${rowsDiffer(waiting)} (in the refresh queue).`)
    const advice = [
      ...(await untracked(client)).map(
        ({ tables, remedy }) =>
          `No triggers track changes of ${tables}. Run ${remedy}, then npm run refresh.`,
      ),
      wrong > 0 &&
        `${rowsDiffer(wrong)} from the views. To recompute every day, run npm run refresh -- --all.`,
      failed.size > 0 &&
        `${failed.size === 1 ? '1 day' : `${failed.size} days`} cannot be computed. Correct the rows that the error names, then run npm run refresh.`,
      unlisted > 0 &&
        `${daysDiffer(unlisted)} from the list of changes. To list every day again, run npm run refresh -- --relist.`,
    ].filter((sentence) => sentence !== false)
    if (advice.length > 0) throw new UsageError(advice.join('\n'))
    console.log(waiting > 0 ? 'All other rows match.' : 'All rows match.')
  })
})

async function verifyShare(client: Client): Promise<void> {
  const { length } = await findWrongObjects(client, openBucket(process.env))
  if (length > 0)
    throw new UsageError(
      `${countObjects(length)} differ from the tables. To replace them, run npm run share:publish.`,
    )
  console.log('All objects match the tables.')
}
