import { Command, InvalidArgumentError } from 'commander'
import * as z from 'zod/mini'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { verify } from '../drizzle/db/verify.ts'
import { uuid } from './options.ts'
import { run } from './run.ts'

const day = (text: string): string => {
  if (z.iso.date().safeParse(text).success) return text
  throw new InvalidArgumentError('It must be a day: 2026-10-31.')
}

const options = new Command('verify')
  .description('Compares the daily tables with the views that define them, and names each row that differs.')
  .option('--brand <id>', 'one brand alone', uuid)
  .option('--from <day>', 'from this day on', day)
  .option('--to <day>', 'up to this day', day)
  .parse()
  .opts<{ brand?: string; from?: string; to?: string }>()

await run(() =>
  withDatabase(async (client) => {
    let wrong = 0
    let waiting = 0
    for await (const found of verify(client, {
      brandId: options.brand,
      from: options.from,
      to: options.to,
    })) {
      if (found.waiting) waiting += 1
      else wrong += 1
      console.log(
        `${found.metric} ${found.kind}${found.waiting ? ' (waits for the refresh)' : ''} ${JSON.stringify(found.row)}`,
      )
    }
    if (waiting > 0) console.log(`${waiting} rows wait for the next refresh.`)
    if (wrong > 0)
      throw new UsageError(`${wrong} rows differ from their definition: npm run refresh -- --all mends them.`)
    console.log('Every other stored row equals its definition.')
  }),
)
