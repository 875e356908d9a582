/** The part of Cloudflare's R2 binding that the share uses. */
export type Bucket = {
  put(key: string, value: Uint8Array<ArrayBuffer>): Promise<unknown>
  head(key: string): Promise<BucketObject | null>
  get(
    key: string,
    options: { range: BucketRange | undefined },
  ): Promise<(BucketObject & { body: ReadableStream<Uint8Array> }) | null>
  delete(keys: string[]): Promise<unknown>
}

type BucketObject = { readonly size: number; readonly httpEtag: string }

export type BucketRange = { readonly offset: number; readonly length?: number } | { readonly suffix: number }

/** Returns the name of an object in the bucket. */
export const objectName = (id: string): string => `${id}.parquet`

/** Returns the bucket of a Worker's bindings; throws `TypeError` without one. */
export function bucketOf(bindings: object): Bucket {
  if ('BUCKET' in bindings && isBucket(bindings.BUCKET)) return bindings.BUCKET
  throw new TypeError('The binding BUCKET is missing')
}

const isBucket = (value: unknown): value is Bucket =>
  typeof value === 'object' && value !== null && 'head' in value
