import { randomUUID } from 'node:crypto'

/** Returns what makes a name one that was never used. */
export const uniqueId = (): string => randomUUID().replaceAll('-', '').slice(0, 12)

/** Returns a new path for the file of a month, which a state names `<endpoint>/<YYYY-MM>`. */
export function monthPath(brandId: string, file: string): string {
  const [endpoint, month] = file.split('/')
  return `endpoint=${endpoint}/brand=${brandId}/${month}-${uniqueId()}.parquet`
}

/** Returns a new path for the file of the brands. */
export const brandsPath = (): string => `endpoint=brands/brands-${uniqueId()}.parquet`

/** Whether sync has written a file. */
export const isOwn = (path: string): boolean => /^endpoint=.*-[0-9a-f]{12}\.parquet$|^_state\//.test(path)
