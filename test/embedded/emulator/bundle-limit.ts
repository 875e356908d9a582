const KIB = 1024

/** KiB of the Workers that ask no database; the docs contain the reference page. */
const WITHOUT_DATABASE: Readonly<Record<string, number>> = { openapi: 48, docs: 72, llms: 12 }

/** What a Worker's bundle may have at most: bytes after gzip. */
export const gzipLimit = (name: string): number => (WITHOUT_DATABASE[name] ?? 128) * KIB
