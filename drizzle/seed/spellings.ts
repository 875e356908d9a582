/**
 * Returns the spellings of an entity in answers: its name, aliases, other case and surrounding spaces.
 *
 * Not computed in SQL, where upper() of an umlaut depends on the server's locale.
 */
export function spellings(name: string, others: readonly string[]): readonly string[] {
  return [...new Set([name, ...others, name.toUpperCase(), ` ${name} `, name.toLowerCase()])]
}
