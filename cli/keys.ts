import { createInterface } from 'node:readline'
import { type Command, InvalidArgumentError } from 'commander'
import { drizzle } from 'drizzle-orm/node-postgres'
import * as z from 'zod/mini'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { readApiKey } from '../lib/request/api-key.ts'
import { shareProfile } from '../site/reference/share-profile.ts'
import { readServiceOrigin } from './dev-vars.ts'
import { describeFound, findKeys } from './key-check.ts'
import { KeyRequestError } from './keys/change-keys.ts'
import { createKey, type LoggedEvent, listKeys, readKeyLog, revokeKey } from './keys/keys.ts'
import { rotateKey } from './keys/rotate-key.ts'
import type { Actor, Database, ListedKey, MadeKey } from './keys/stored-keys.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { escapeControls } from './local/escape-controls.ts'
import { writePrivateFile } from './local/private-file.ts'
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

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseDuration(text: string): number {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? []
  if (unit === 'm' || unit === 'h' || unit === 'd') return Number(count) * UNIT_MS[unit]
  throw new InvalidArgumentError('Use minutes, hours or days: 30m, 24h, 7d.')
}

const append = (text: string, before: readonly string[] = []): string[] => [...before, uuid(text)]

const keys = createCommand('keys', {
  description: 'Creates, lists, rotates, revokes and checks export keys, and writes their profile files.',
  variables: {
    ...DATABASE_URL,
    'API_URL, EXPORT_API_KEY': 'the service and the key of a profile file; also read from .dev.vars',
  },
})

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
      printMade(made, options)
    }),
  )

command('list', "Lists the organization's keys, newest first.").action((options: Common) =>
  act(options, async (db, actor) => {
    const found = await listKeys(db, actor, new Date())
    if (options.json) return print(found)
    console.log(found.length === 0 ? 'No keys yet.' : found.map(line).join('\n'))
  }),
)

command('rotate', 'Creates the successor of a key and prints it once. The key expires after the overlap.')
  .requiredOption('--key <id>', 'the id of the key', uuid)
  .requiredOption('--overlap <duration>', 'how long the key stays valid: 30m, 24h, 7d', parseDuration)
  .action((options: Common & { key: string; overlap: number }) =>
    act(options, async (db, actor) => {
      const { key: keyId, overlap: overlapMs } = options
      printMade(await rotateKey(db, actor, { keyId, overlapMs }, new Date()), options)
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

command('log', 'Lists who created, rotated and revoked keys, newest first.').action((options: Common) =>
  act(options, async (db, actor) => {
    const events = await readKeyLog(db, actor)
    if (options.json) return print(events)
    console.log(events.length === 0 ? 'Nothing yet.' : events.map(eventLine).join('\n'))
  }),
)

keys
  .command('share')
  .description('Writes the profile file of Delta Sharing for the key in EXPORT_API_KEY. Needs no database.')
  .option('--endpoint <url>', 'URL of the service (default: API_URL)')
  .option('--out <file>', 'the file, which only you can read', 'export.share')
  .action(({ endpoint, out }: { endpoint?: string; out: string }) =>
    run(async () => {
      const origin = readServiceOrigin(endpoint, '--endpoint')
      const key = readApiKey((process.env.EXPORT_API_KEY ?? '').trim())
      if (key === null) {
        throw new UsageError(
          'EXPORT_API_KEY is malformed or not set. Use svc_live_ and its 64 hexadecimal digits.',
        )
      }
      writePrivateFile(out, shareProfile(origin, key))
      console.log(`Wrote ${out}. It contains the key.`)
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

function printMade(made: MadeKey, { json }: Common): void {
  if (json) {
    print(made)
  } else {
    console.log(made.key)
    console.error(`Store the key now. It is not shown again. Its id is ${made.id}.`)
  }
}

function print(value: unknown): void {
  console.log(escapeControls(JSON.stringify(value)))
}

function line({ id, state, lastFour, label, brandIds, expiresAt, ...key }: ListedKey): string {
  const brands =
    brandIds === null ? 'all brands' : `${brandIds.length} brand${brandIds.length === 1 ? '' : 's'}`
  const expiry = expiresAt === null ? 'no expiry' : `expires ${expiresAt.toISOString()}`
  const replaces = key.replaces === null ? '' : `, replaces ${key.replaces}`
  const replaced = key.replacedBy === null ? '' : `, replaced by ${key.replacedBy}`
  const terms = `${brands}, ${expiry}${replaces}${replaced}`
  return `${id}  ${state.padEnd(7)}  …${lastFour}  ${terms}  ${escapeControls(label)}`
}

function eventLine({ at, event, keyId, userId, successorId }: LoggedEvent): string {
  const successor = successorId === null ? '' : `, replaced by ${successorId}`
  return `${at.toISOString()}  ${event.padEnd(7)}  ${keyId}  by ${userId ?? 'SQL'}${successor}`
}
