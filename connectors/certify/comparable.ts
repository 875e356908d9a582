import type { ColumnType } from '../../site/reference/streams.ts'

/** Returns a value in the one form in which values of a column are compared, whatever type they are stored in. */
export function comparable(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null
  return FORMS[type](value)
}

const FORMS: Readonly<Record<ColumnType, (value: unknown) => unknown>> = {
  uuid: (value) => String(value).toLowerCase(),
  text: String,
  date: (value) => String(value).slice(0, 10),
  timestamp: (value) => toMicroseconds(String(value)),
  integer: toNumber,
  number: toNumber,
  boolean: (value) => /^(true|t|1)$/i.test(String(value)),
  json: (value) => sorted(typeof value === 'string' ? parsed(value) : value),
}

function toNumber(value: unknown): unknown {
  const number = Number(value)
  return String(value).trim() === '' || Number.isNaN(number) ? value : number
}

/** Writes an instant in UTC with six decimals. Without a zone it is in UTC. */
function toMicroseconds(text: string): string {
  const [, day, time, fraction = '', zone = 'Z'] =
    /^(\S{10})[ T](\d\d:\d\d:\d\d)(?:\.(\d+))? ?(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(text) ?? []
  if (day === undefined) return text
  const instant = new Date(`${day}T${time}${/^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone}`)
  return `${instant.toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}Z`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Sorts the members of an object. A structure of a database has null where an object lacks a member. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, toNumber(member)] as const).sort())
}
