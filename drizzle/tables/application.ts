import { type SQL, sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  boolean,
  check,
  customType,
  index,
  numeric,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'

export const id = () => uuid().primaryKey().default(sql`gen_random_uuid()`)

/** The parent's id: the row is deleted with its parent. */
export const partOf = (parent: () => AnyPgColumn) =>
  uuid().notNull().references(parent, { onDelete: 'cascade' })

export const instant = () => timestamp({ withTimezone: true })

/** That an instant has a UTC day from 0001-01-01 to 9999-12-31, which is what a window can ask for. */
export const inCalendar = (column: PgColumn): SQL =>
  sql`${column} >= '0001-01-01T00:00:00Z' and ${column} < '10000-01-01T00:00:00Z'`

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** That a list of texts is a list, not a table of lists, which Postgres accepts as the same type. */
export const isList = (column: PgColumn): SQL => sql`coalesce(array_ndims(${column}), 1) = 1`

export const organizations = pgTable('organizations', {
  id: id(),
  name: text().notNull(),
  created_at: instant().notNull().defaultNow(),
})

export const users = pgTable('users', {
  id: id(),
  email: text().notNull().unique(),
  created_at: instant().notNull().defaultNow(),
})

export const memberships = pgTable(
  'memberships',
  {
    organization_id: partOf(() => organizations.id),
    user_id: partOf(() => users.id),
    role: text({ enum: ['owner', 'admin', 'member'] }).notNull(),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.user_id] }),
    check('memberships_role', sql`${table.role} in ('owner', 'admin', 'member')`),
  ],
)

const PLAN_NAMES = ['lite', 'pro', 'agency', 'enterprise'] as const
const STATUSES = ['active', 'past_due', 'canceled'] as const

/** A billing plan. Its limits are in `lib/access/plans.ts`. */
export type Plan = (typeof PLAN_NAMES)[number]

const oneOf = (names: readonly string[]) => sql.raw(names.map((name) => `'${name}'`).join(', '))

export const subscriptions = pgTable(
  'subscriptions',
  {
    organization_id: uuid()
      .primaryKey()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    plan: text({ enum: PLAN_NAMES }).notNull(),
    status: text({ enum: STATUSES }).notNull(),
    updated_at: instant().notNull().defaultNow(),
  },
  (table) => [
    check('subscriptions_plan', sql`${table.plan} in (${oneOf(PLAN_NAMES)})`),
    check('subscriptions_status', sql`${table.status} in (${oneOf(STATUSES)})`),
  ],
)

export const brands = pgTable(
  'brands',
  {
    id: id(),
    organization_id: partOf(() => organizations.id),
    name: text().notNull(),
    display_name: text().notNull(),
    url: text().notNull(),
    site_url: text().notNull(),
    industry: text(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    // The order of a file's parts, by code point.
    index('brands_order_index').on(table.organization_id, sql`${table.name} collate "C"`, table.id),
    // It is part of keys of daily rows, and an index row holds 2,704 bytes.
    check('brands_name', sql`octet_length(${table.name}) <= 2000`),
    check('brands_created_at', inCalendar(table.created_at)),
    check('brands_aliases', isList(table.aliases)),
  ],
)

export const competitors = pgTable(
  'competitors',
  {
    id: id(),
    brand_id: partOf(() => brands.id),
    name: text().notNull(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    unique().on(table.brand_id, table.name),
    // As of brands.
    check('competitors_name', sql`octet_length(${table.name}) <= 2000`),
    check('competitors_aliases', isList(table.aliases)),
  ],
)

export const markets = pgTable('markets', { id: id(), name: text().notNull() })

export const models = pgTable(
  'models',
  { id: text().primaryKey(), provider: text().notNull() },
  // As of brands.
  (table) => [check('models_id', sql`octet_length(${table.id}) <= 2000`)],
)

export const prompts = pgTable(
  'prompts',
  {
    id: id(),
    brand_id: partOf(() => brands.id),
    text: text().notNull(),
    branded: boolean().notNull().default(false),
    counts_in_metrics: boolean().notNull().default(true),
    retired_at: instant(),
  },
  (table) => [index().on(table.brand_id)],
)

export const answers = pgTable(
  'answers',
  {
    id: id(),
    prompt_id: partOf(() => prompts.id),
    model_id: text()
      .notNull()
      .references(() => models.id),
    market_id: uuid()
      .notNull()
      .references(() => markets.id),
    answered_at: instant().notNull(),
    error: text(),
  },
  // The index: one UTC day of one prompt: what the views read to compute one day of one brand.
  (table) => [
    index('answers_prompt_id_day_index').on(
      table.prompt_id,
      sql`((${table.answered_at} at time zone 'UTC')::date)`,
    ),
    check('answers_answered_at', inCalendar(table.answered_at)),
  ],
)

export const answerMentions = pgTable(
  'answer_mentions',
  { answer_id: partOf(() => answers.id), name: text().notNull() },
  (table) => [primaryKey({ columns: [table.answer_id, table.name] })],
)

export const citations = pgTable(
  'citations',
  {
    id: id(),
    answer_id: partOf(() => answers.id),
    url: text().notNull(),
    domain: text(),
    owned: boolean().notNull(),
    recorded_at: instant().notNull(),
  },
  // By answer for Citation Share, by the UTC day of the recording for the citations endpoint.
  (table) => [
    index().on(table.answer_id),
    index('citations_day_index').on(sql`((${table.recorded_at} at time zone 'UTC')::date)`, table.answer_id),
    check('citations_recorded_at', inCalendar(table.recorded_at)),
  ],
)

export const sentimentPhrases = pgTable(
  'sentiment_phrases',
  {
    id: id(),
    answer_id: partOf(() => answers.id),
    polarity: text({ enum: ['positive', 'neutral', 'negative'] }).notNull(),
    confidence: numeric({ precision: 5, scale: 4 }).notNull(),
  },
  (table) => [
    index().on(table.answer_id),
    check('sentiment_phrases_polarity', sql`${table.polarity} in ('positive', 'neutral', 'negative')`),
    check('sentiment_phrases_confidence', sql`${table.confidence} between 0 and 1`),
  ],
)

export const recommendations = pgTable(
  'recommendations',
  {
    answer_id: partOf(() => answers.id),
    /** The competitor that was judged; null for the brand itself. */
    competitor_id: uuid().references(() => competitors.id, { onDelete: 'cascade' }),
    recommended: boolean().notNull(),
  },
  (table) => [
    unique().on(table.answer_id, table.competitor_id).nullsNotDistinct(),
    index().on(table.competitor_id),
  ],
)

export const apiKeyColumns = () => ({
  id: id(),
  organization_id: partOf(() => organizations.id),
  created_by: partOf(() => users.id),
  scope: text({ enum: ['export', 'tools'] }).notNull(),
  label: text().notNull(),
  /** SHA-256 of the whole key; the key itself is never stored. */
  key_hash: bytea().notNull().unique(),
  last_four: text().notNull(),
  /** The brands that the key may read; null for every brand of the organization. */
  brand_ids: uuid().array(),
  expires_at: instant(),
  revoked_at: instant(),
  created_at: instant().notNull().defaultNow(),
})

export const apiKeys = pgTable('api_keys', apiKeyColumns(), (table) => [
  index().on(table.organization_id),
  check('api_keys_scope', sql`${table.scope} in ('export', 'tools')`),
  check('api_keys_key_hash', sql`octet_length(${table.key_hash}) = 32`),
])
