/** A part of a document, with the document, in which its references are looked up. */
export type Part = { readonly document: unknown; readonly part: unknown }

/** A member of a part, looked up where it refers to another place. */
export function member(from: Part | undefined, name: string): Part | undefined {
  const part = at(from?.part, name)
  return from === undefined || part === undefined ? undefined : resolved({ document: from.document, part })
}

export function resolved({ document, part }: Part): Part {
  const reference = at(part, '$ref')
  if (typeof reference !== 'string') return { document, part }
  const steps = reference.split('/').slice(1)
  const place = steps.reduce(
    (where, step) => at(where, step.replaceAll('~1', '/').replaceAll('~0', '~')),
    document,
  )
  return { document, part: place }
}

export const entries = (of: Part | undefined): [string, Part][] =>
  isRecord(of?.part)
    ? Object.keys(of.part).flatMap((name): [string, Part][] => {
        const found = member(of, name)
        return found === undefined ? [] : [[name, found]]
      })
    : []

export const includes = (list: unknown, name: string): boolean => Array.isArray(list) && list.includes(name)

export const at = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A part without what is written for people, which may change at any time. */
export function withoutProse(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !['description', 'example', 'summary'].includes(name))
      .map(([name, inner]) => [name, withoutProse(inner)]),
  )
}

export const text = (value: unknown): string => JSON.stringify(value) ?? ''
