import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { demoId } from '../../drizzle/seed/ids.ts'
import { insertRows } from '../../drizzle/seed/insert-rows.ts'

/** Ends of texts. Some loader takes two of them for the same, or changes one. */
const ENDS = [
  ...['', ' ', '\t', '/', '\n', '\r\n', '\u200b', '\ufeff', '😀', '\u0001'],
  ...[' b', '  b', '\u00a0b', "'b'", '’b’', 'fi', 'ﬁ', 'I', 'i', 'ı', '%41', 'A', '&', '&amp;', '\\n'],
]

/**
 * Returns texts that differ only by case, blanks, scheme, query, fragment, encoding or invisible characters, or after
 * `length` characters.
 */
export const twins = (text: string, length: number): string[] => [
  ...ENDS.map((end) => text + end),
  text.toUpperCase(),
  ` ${text}`,
  text.normalize('NFD'),
  ...['http://', 'https://'].map((scheme) => `${scheme}${text}.example/`),
  ...['', '?a=1', '?a=1&b=2', '?b=2&a=1', '#a'].map((end) => `${text}.example${end}`),
  ...['a', 'b'].map((end) => text.padEnd(length, '.') + end),
]

const MARKETS = ['Ελλάδα'.normalize('NFD'), 'United\nStates\t1 ']

/** Where answers come from. The first two are there on every day. */
export const PLACES = [
  { model: 'certify-model', market: 0 },
  { model: 'Certify/Model:2', market: 1 },
  ...twins('modèle', 1_900).map((model) => ({ model, market: 0 })),
]

/** Adds an organization with the enterprise plan and some keys, and the models and markets. */
export async function addOrganization(client: Client, keys: readonly string[]): Promise<void> {
  await insertRows(client, 'organizations', [{ id: fixedId('organization'), name: 'Certify' }])
  await insertRows(client, 'users', [{ id: fixedId('user'), email: 'owner@certify.example' }])
  const subject = { organization_id: fixedId('organization') }
  await insertRows(client, 'memberships', [{ ...subject, user_id: fixedId('user'), role: 'owner' }])
  await insertRows(client, 'subscriptions', [{ ...subject, plan: 'enterprise', status: 'active' }])
  await insertRows(
    client,
    'api_keys',
    keys.map((key, index) => ({
      id: fixedId('key', index),
      ...subject,
      created_by: fixedId('user'),
      scope: 'export',
      label: 'Certify',
      key_hash: `\\x${createHash('sha256').update(key).digest('hex')}`,
      last_four: key.slice(-4),
    })),
  )
  await insertRows(
    client,
    'models',
    PLACES.map(({ model }, place) => ({ id: model, provider: place === 0 ? 'A "quoted", provider' : '' })),
  )
  await insertRows(
    client,
    'markets',
    MARKETS.map((name, market) => ({ id: fixedId('market', market), name })),
  )
}

/** Returns the same UUID for the same words and numbers. */
export const fixedId = (...words: readonly (string | number)[]): string =>
  demoId('certify', ...words.map(String))

const DAY_MS = 86_400_000

/** Returns the UTC day that lies a number of days before `today`, both as `YYYY-MM-DD`. */
export const daysBefore = (today: string, days: number): string =>
  new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10)

/** Days before today: some on both sides of the shortest lookback, 90 days, and the most recent ones. */
export const AGES = [...range(100, 82), ...range(28, 3)]

/** The day from which the command loads, as days before today. */
export const START = 102

function range(first: number, last: number): number[] {
  return Array.from({ length: first - last + 1 }, (_, index) => first - index)
}
