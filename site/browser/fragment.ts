/** The parameters that the address keeps. The key is none of them. */
const SHARED = ['brandId', 'fromDate', 'toDate']

export type Values = Readonly<Record<string, string>>

/** Returns the id of the element that an address points to, and its parameters: none, or all with empty ones. */
export function readFragment(hash: string): { readonly target: string; readonly values: Values } {
  const [target = '', query] = hash.slice(1).split('?')
  const parameters = new URLSearchParams(query)
  const hasValues = SHARED.some((name) => parameters.has(name))
  const values = hasValues ? SHARED.map((name) => [name, parameters.get(name) ?? '']) : []
  return { target, values: Object.fromEntries(values) }
}

/** Writes a fragment such as `#visibility?brandId=…&fromDate=2026-10-01`. */
export function writeFragment(target: string, values: Values): string {
  const shared = SHARED.flatMap((name) => (values[name] ? [[name, values[name]]] : []))
  return `#${target}${shared.length === 0 ? '' : `?${new URLSearchParams(shared)}`}`
}
