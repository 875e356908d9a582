const KIB = 1024

/** The Workers that say what is in their bundle, and ask no database. */
const WITHOUT_DATABASE: ReadonlySet<string> = new Set(['openapi', 'docs'])

/** What a Worker's bundle may have at most: bytes after gzip. */
export const gzipLimit = (name: string): number => (WITHOUT_DATABASE.has(name) ? 44 : 120) * KIB
