/**
 * The ways in which answers write an entity's names, the usual one first: other case, stray spaces, aliases.
 *
 * Changed here and not in SQL, where upper() of an umlaut depends on the server's locale.
 */
export function spellings(name: string, others: readonly string[]): readonly string[] {
  return [...new Set([name, ...others, name.toUpperCase(), ` ${name} `, name.toLowerCase()])]
}
