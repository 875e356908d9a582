import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  integer,
  json,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { daily, textC } from '../metrics/schema.ts'

/**
 * The keys of raw rows that changed, as they were and as they are. Triggers append to it, and `daily.resolve` empties it.
 * An entry without ids stands for all rows of its source, from `day` on if it has one.
 */
export const changeLog = daily.table('change_log', {
  source: text().notNull(),
  brand_id: uuid(),
  prompt_id: uuid(),
  answer_id: uuid(),
  model_id: text(),
  market_id: uuid(),
  /** The UTC day of an answer, or of the recording of a citation. */
  day: date(),
})

/**
 * The brands that were added, edited or removed so that other keys may read them, as triggers log them. `daily.resolve`
 * empties it. An entry without a brand stands for all brands.
 */
export const brandLog = daily.table('brand_log', { source: text().notNull(), brand_id: uuid() })

/** The active brands and their organizations as of the last `daily.resolve` that had entries of the log for them. */
export const readableBrands = daily.table('readable_brands', {
  brand_id: uuid().primaryKey(),
  organization_id: uuid().notNull(),
})

/** The days that the refresh has to recompute. Only `daily.resolve` adds entries, and only `daily.refresh` removes them. */
export const refreshQueue = daily.table(
  'refresh_queue',
  {
    brand_id: uuid().notNull(),
    metric: text().notNull(),
    date: date().notNull(),
    /** All changes of this day that were committed before are in the stored rows: the start of an earlier resolve. */
    as_of: timestamp({ withTimezone: true }).notNull(),
    /** The last batch of the log that named this day (`daily.progress`). */
    batch: bigint({ mode: 'number' }).notNull(),
    /** How often the day could not be computed since it last changed. */
    attempts: integer().notNull().default(0),
    /** The earliest time of the next attempt; null means now. */
    retry_at: timestamp({ withTimezone: true }),
    last_error: text(),
    /** Whether the day gets a statement of its own, after the other days: a statement with it was canceled. */
    alone: boolean().notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.brand_id, table.metric, table.date] })],
)

/** Why a day is in the queue: the kinds of changes that reached it, each with the batch of the log that it came with. */
export const queuedCauses = daily.table(
  'queued_causes',
  {
    brand_id: uuid().notNull(),
    metric: text().notNull(),
    date: date().notNull(),
    /** A kind of cause as `/changes` names it. */
    cause: text().notNull(),
    batch: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.brand_id, table.metric, table.date, table.batch, table.cause] })],
)

/**
 * The brands with entries in the queue, or with days to list. A refresh locks a brand's row while it computes the brand's
 * days. Pages read this table and not the queue, whose dead rows stay as long as the oldest snapshot.
 */
export const queuedBrands = daily.table('queued_brands', {
  brand_id: uuid().primaryKey(),
  /** All changes of the brand that were committed before are in the stored rows. */
  as_of: timestamp({ withTimezone: true }).notNull(),
  /** Whether the brand became readable, and its days have not been listed since. */
  returned: boolean().notNull().default(false),
})

/** The last run of `daily.resolve`, in one row. */
export const progress = daily.table(
  'progress',
  {
    single: boolean().primaryKey().default(true),
    /** All changes that were committed before are in the stored rows or in the queue. */
    as_of: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
    /** Counts the batches that were taken from the log. */
    batch: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('progress_single', sql`${table.single}`)],
)

/**
 * When the stored rows of a brand, endpoint and day last changed, what they add up to, and their digest. A day that has emptied keeps
 * its row, with 0. The refresh writes it in the transaction that changes the rows. Pages send the cells as they are
 * stored: converting timestamps and jsonb would double the cost of a page.
 */
export const dailyChanges = daily.table(
  'changes',
  {
    brand_id: uuid().notNull(),
    /** The name of the endpoint, as in its path. */
    endpoint: textC().notNull(),
    date: date().notNull(),
    rows: integer().notNull(),
    /** The most bytes that the rows take as JSON. */
    bytes: bigint({ mode: 'number' }).notNull(),
    /** The sum of each field that adds up (daily.row_schemas). */
    totals: json().$type<Readonly<Record<string, number>>>().notNull(),
    /** 15 hex digits that prove the day's rows (docs/specification.md, Digest). */
    digest: textC().notNull(),
    /** For each kind of cause that ever changed the rows, the `changed_at` of its latest change. */
    causes: json().$type<Readonly<Record<string, string>>>().notNull(),
    /** In the form that pages have: with microseconds, and sorted as text it is in the order of time. */
    changed_at: textC().notNull(),
    /** The `changed_at` with which the day came into the list; empty where a copy may have had it before. */
    first_changed_at: textC().notNull(),
    /**
     * The last batch of the log that was resolved when the day was listed. Its rows may have changes of the next batch, too:
     * those that were committed before the rows were computed.
     */
    batch: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [
    // The brand comes last: a page, which orders by the other index, is never read by this one and sorted.
    primaryKey({ columns: [table.endpoint, table.date, table.brand_id] }),
    uniqueIndex('changes_order_index').on(table.brand_id, table.changed_at, table.endpoint, table.date),
  ],
)

/**
 * The greatest `changed_at` of daily.changes, in at most one row. A transaction that advances it locks the row until it
 * commits, so `changed_at` follows the order of the commits, whatever the system's clock does.
 */
export const changesClock = daily.table(
  'changes_clock',
  {
    single: boolean().primaryKey().default(true),
    last: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [check('changes_clock_single', sql`${table.single}`)],
)

/**
 * The days of the answers whose citations were recorded on a day of a brand: where to look for them, since a citation can
 * be recorded long after its answer. `daily.resolve` adds days before the refresh computes them, and none is removed.
 */
export const citationDays = daily.table(
  'citation_days',
  {
    brand_id: uuid().notNull(),
    recorded: date().notNull(),
    answered: date().notNull(),
  },
  (table) => [primaryKey({ columns: [table.brand_id, table.recorded, table.answered] })],
)

/**
 * At most one row. With a row, each pass recomputes the last `days` days, today included, and all later ones. Without
 * one, triggers track every change.
 */
export const rollingWindow = daily.table(
  'rolling_window',
  {
    single: boolean().primaryKey().default(true),
    days: integer().notNull(),
    /** The first day of the last pass; `-infinity` before the first pass, which recomputes every day. */
    first_day: date().notNull().default('-infinity'),
    /** When the last pass started. */
    started_at: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
  },
  (table) => [
    check('rolling_window_single', sql`${table.single}`),
    check('rolling_window_days', sql`${table.days} between 1 and 36500`),
  ],
)

/**
 * The rows of each metric, as `functions/` declares them. A migration stages other fields and totals, and
 * `daily.activate_row_schemas` activates them when every live Worker has them.
 */
export const rowSchemas = daily.table('row_schemas', {
  metric: text().primaryKey(),
  /** The metric's name in paths and in daily.changes. */
  endpoint: textC().notNull(),
  /** The active fields: digests and the share have them. */
  fields: text().array().notNull(),
  /** SQL of the JSON text with the sum of each active field that adds up. */
  totals: text().notNull(),
  /** The fields of the last migration. */
  staged_fields: text().array().notNull(),
  staged_totals: text().notNull(),
  /** Whether every day has been listed since other fields or totals became active. */
  listed: boolean().notNull().default(true),
})

/**
 * Who created, rotated and revoked keys. Triggers on the keys write it (drizzle/sql/keys.sql). It is a table of the
 * service, and has no foreign keys: the application's tables may have other names, and an entry stays when its key, user or
 * organization is deleted. A restore of those tables alone lets a key be rotated or revoked again, which adds another entry.
 */
export const keyLog = daily.table(
  'key_log',
  {
    key_id: uuid().notNull(),
    event: text({ enum: ['created', 'rotated', 'revoked'] }).notNull(),
    at: timestamp({ withTimezone: true }).notNull(),
    organization_id: uuid().notNull(),
    /** The user who acted; null for a statement that names none. */
    user_id: uuid(),
    /** The key that replaces a rotated one. */
    successor_id: uuid().unique(),
  },
  (table) => [
    check('key_log_event', sql`${table.event} in ('created', 'rotated', 'revoked')`),
    check('key_log_successor', sql`(${table.event} = 'rotated') = (${table.successor_id} is not null)`),
  ],
)

/**
 * The files of `drizzle/migrations` and `drizzle/sql` that this database has, as `drizzle/db/migrate.ts` applied
 * them.
 */
export const appliedSql = daily.table('applied_sql', {
  name: text().primaryKey(),
  sha256: text().notNull(),
  /** The schema of the application's tables. */
  schema: text().notNull(),
  applied_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})
