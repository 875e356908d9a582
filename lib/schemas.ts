import * as z from 'zod/mini'
import type { RowSchema } from './row-schema.ts'

/** Metadata of a field whose values add up over rows. The OpenAPI document shows it. */
const ADDS_UP = { 'x-aggregation': 'sum' } as const

/** A UUID in lower case with hyphens. */
export const uuid = (description: string) => z.guid().check(z.meta({ description }))

/** A UTC calendar day, `YYYY-MM-DD`. */
export const day = (description: string) => z.iso.date().check(z.meta({ description }))

/** An instant in UTC with milliseconds, `YYYY-MM-DDTHH:MM:SS.sssZ`. */
export const instant = (description: string) =>
  z.iso.datetime({ precision: 3 }).check(z.meta({ description }))

/** An instant in UTC with microseconds, `YYYY-MM-DDTHH:MM:SS.ssssssZ`. */
export const preciseInstant = (description: string) =>
  z.iso.datetime({ precision: 6 }).check(z.meta({ description }))

export const text = (description: string) => z.string().check(z.meta({ description }))

/** The last segment of a path: lower-case letters and hyphens. */
export const pathSegment = (description: string) =>
  z.string().check(z.regex(/^[a-z-]+$/), z.meta({ description }))

export const flag = (description: string) => z.boolean().check(z.meta({ description }))

/** A count: a whole number from 0, stored in 32 bits. */
export const count = (description: string) => z.int32().check(z.gte(0), z.meta({ description, ...ADDS_UP }))

/** A percentage from 0 to 100, always written with four decimals. */
export const rate = (description: string) =>
  z
    .number()
    .check(z.gte(0), z.lte(100), z.meta({ description: `${description} A percentage with four decimals.` }))

/** A sum of confidences, always written with four decimals. */
export const weight = (description: string) =>
  z.number().check(z.gte(0), z.meta({ description: `${description} Has four decimals.`, ...ADDS_UP }))

/** A digest of 60 bits as lower-case hex digits. */
export const digest = (description: string) =>
  z.string().check(z.regex(/^[0-9a-f]{15}$/), z.meta({ description }))

/** An object of numbers. */
export const numbers = (description: string) =>
  z.record(z.string(), z.number()).check(z.meta({ description }))

/** A field that is always present, and null when it has no value. */
export const nullable = <Field extends z.core.SomeType>(field: Field) => z.nullable(field)

/** Returns the names of a row's fields that add up: its counts and weights. */
export const totalsOf = (row: RowSchema): string[] =>
  Object.entries(row.shape)
    .filter(([, field]) => z.globalRegistry.get(field)?.['x-aggregation'] === ADDS_UP['x-aggregation'])
    .map(([name]) => name)
