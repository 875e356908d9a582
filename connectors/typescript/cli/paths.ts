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

const STATE = /^_state\/(none|[0-9a-f]{12})\/\d{6}-[0-9a-f]{12}\/[^/]+\.json$/
const FILE = /^endpoint=.*-[0-9a-f]{12}\.parquet$/

/** Whether it is the file of a month. */
export const isMonth = (path: string): boolean => FILE.test(path) && path.includes('/brand=')

/** Whether sync has written a file. */
export const isOwn = (path: string): boolean => FILE.test(path) || STATE.test(path)

/** Whether it is part of a copy: a state, or what a reader may take for one of its Parquet files. */
export const isListed = (path: string): boolean => /^endpoint=.*\.parquet$/i.test(path) || STATE.test(path)
