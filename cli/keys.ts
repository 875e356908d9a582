import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError } from 'commander'
import { drizzle } from 'drizzle-orm/node-postgres'
import * as z from 'zod/mini'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import {
  type Actor,
  createKey,
  type Database,
  KeyRequestError,
  type ListedKey,
  listKeys,
  revokeKey,
} from '../lib/access/keys.ts'
import { describeFound, findKeys } from './key-check.ts'
import { uuid } from './options.ts'
import { run } from './run.ts'

type Common = { readonly org: string; readonly user: string; readonly json?: boolean }

const Expiry = z.union([z.iso.date(), z.iso.datetime({ offset: true })])

const parseTime = (text: string): Date => {
  if (Expiry.safeParse(text).success) return new Date(text)
  throw new InvalidArgumentError(
    'Use a date or a time with a zone: 2027-01-31, 2027-01-31T12:00:00Z or 2027-01-31T12:00:00+01:00.',
  )
}

const append = (text: string, before: readonly string[] = []): string[] => [...before, uuid(text)]

const keys = new Command('keys')
  .description('Creates, lists, revokes and checks export keys.')
  // A key passed by mistake, for example as --key, is not printed.
  .configureOutput({ outputError: (text, write) => write(text.replace(/svc_live_\w+/g, 'svc_live_…')) })

const command = (name: string, description: string): Command =>
  keys
    .command(name)
    .description(description)
    .requiredOption('--org <id>', 'organization', uuid)
    .requiredOption('--user <id>', 'acting user: an owner or admin of the organization', uuid)
    .option('--json', 'print JSON')

command('create', 'Creates a key and prints it once.')
  .requiredOption('--label <text>', 'what the key is for')
  .option('--brand <id>', 'brand that the key may read; repeatable (default: all brands)', append)
  .option('--expires <time>', 'expiry date or time (default: never)', parseTime)
  .action((options: Common & { label: string; brand?: string[]; expires?: Date }) =>
    act(options, async (db, actor) => {
      const { label, brand: brandIds = null, expires: expiresAt = null } = options
      const made = await createKey(db, actor, { label, brandIds, expiresAt }, new Date())
      if (options.json) return print(made)
      console.log(made.key)
      console.error(`Store the key now. It is not shown again. Its id is ${made.id}.`)
    }),
  )

command('list', "Lists the organization's keys, newest first.").action((options: Common) =>
  act(options, async (db, actor) => {
    const found = await listKeys(db, actor, new Date())
    if (options.json) return print(found)
    console.log(found.length === 0 ? 'No keys yet.' : found.map(line).join('\n'))
  }),
)

command('revoke', 'Revokes a key immediately.')
  .requiredOption('--key <id>', 'the id of the key', uuid)
  .action((options: Common & { key: string }) =>
    act(options, async (db, actor) => {
      const revoked = await revokeKey(db, actor, options.key, new Date())
      if (options.json) return print(revoked)
      console.log(line(revoked))
    }),
  )

keys
  .command('check')
  .description('Checks stdin for keys. Exits with 1 when one has a valid checksum. Needs no database.')
  .option('--json', 'print JSON')
  .action(({ json }: { json?: boolean }) =>
    run(async () => {
      const found = await findKeys(createInterface({ input: process.stdin }))
      if (found.some(({ checksum }) => checksum)) process.exitCode = 1
      if (json) return print(found)
      console.log(found.length === 0 ? 'No keys found.' : found.map(describeFound).join('\n'))
    }),
  )

await keys.parseAsync()

function act({ org, user }: Common, work: (db: Database, actor: Actor) => Promise<void>): Promise<void> {
  return run(() =>
    withDatabase(async (client) => {
      try {
        await work(drizzle({ client }), { organizationId: org, userId: user })
      } catch (error) {
        throw error instanceof KeyRequestError ? new UsageError(error.message) : error
      }
    }),
  )
}

function print(value: unknown): void {
  console.log(escapeControls(JSON.stringify(value)))
}

/** Escapes what a terminal interprets, in the form of JSON, whose own writer leaves some of it. */
function escapeControls(text: string): string {
  const escaped = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, escaped)
}

function line({ id, state, lastFour, label, brandIds, expiresAt }: ListedKey): string {
  const brands =
    brandIds === null ? 'all brands' : `${brandIds.length} brand${brandIds.length === 1 ? '' : 's'}`
  const expiry = expiresAt === null ? 'no expiry' : `expires ${expiresAt.toISOString()}`
  return `${id}  ${state.padEnd(7)}  …${lastFour}  ${brands}, ${expiry}  ${escapeControls(label)}`
}
