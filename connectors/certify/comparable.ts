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
  json: JSON.stringify,
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
