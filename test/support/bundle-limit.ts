const KIB = 1024

/** What a Worker's bundle may have at most: bytes after gzip. */
export const gzipLimit = (name: string): number => (name === 'openapi' ? 40 : 120) * KIB
