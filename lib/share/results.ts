import * as z from 'zod/mini'
import type { ColumnType } from './parquet.ts'

// What drizzle/sql/publish.sql and the statements of the share return as JSON.

const TYPES = ['string', 'date', 'long', 'double', 'boolean', 'timestamp'] as const satisfies ColumnType[]

/** The columns of each table. */
export const Tables = z.record(z.string(), z.array(z.object({ name: z.string(), type: z.enum(TYPES) })))

/** The bytes and the number of a table's objects at a version. */
export const Size = z.object({ size: z.int(), numFiles: z.int() })
export type Size = z.infer<typeof Size>

const day = z.nullable(z.string())

/**
 * The objects that a statement names: id, bytes, rows, brand, first and last day. A feed adds the action, its version and
 * the time of its commit.
 */
export const NamedObjects = z.array(
  z.union([
    z.tuple([z.guid(), z.int(), z.int(), z.guid(), day, day]),
    z.tuple([z.guid(), z.int(), z.int(), z.guid(), day, day, z.enum(['add', 'remove']), z.int(), z.string()]),
  ]),
)
export type NamedObject = z.infer<typeof NamedObjects>[number]

/** The lease of a publisher, or that of another one, without a number. */
export const Lease = z.object({ number: z.nullable(z.int()), holder: z.string(), until: z.string() })

export const Ids = z.array(z.guid())

/** The version that was added; null for none. */
export const Version = z.nullable(z.int())

/** A row's values in the order of its columns. */
const Values = z.array(z.unknown())

/** Rows of a part of an object; null when they have changed, or are too many for a batch. */
export const Part = z.nullable(z.array(Values))

const named = { id: z.guid(), metric: z.string(), brand_id: z.guid() }

/** An object to write: of rows in parts, of which one that is null is read by itself, or of the rows of other objects. */
const SharedObject = z.union([
  z.object({ ...named, first_part: z.int(), parts: z.array(Part) }),
  z.object({ ...named, rows: z.int(), sources: Ids }),
])
export type SharedObject = z.infer<typeof SharedObject>

/** What `daily.read_batch` and `daily.read_periods` return. The brands go back as they are, to `daily.commit_batch`. */
export const Batch = z.object({
  columns: Tables,
  objects: z.array(SharedObject),
  brands: z.array(z.looseObject({ brand_id: z.guid() })),
})
