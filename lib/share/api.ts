import type { Api, Middleware, RequestContext } from '../app.ts'
import { HttpError } from '../errors.ts'
import { shareError, toBody } from './errors.ts'

/** The API of the share: the key is a bearer token, and errors have the protocol's form. */
export const API: Api = {
  readKey: (header) => /^Bearer +(.*)$/i.exec(header('Authorization') ?? '')?.[1],
  toBody,
  notFound: () => shareError('path'),
}

/** Answers 405 with `Allow`. */
export const methods =
  (allow: string): Middleware =>
  () => {
    throw new HttpError(405, `Method not allowed. Use ${allow.replace(', ', ' or ')}.`, { Allow: allow })
  }

/** Runs a request to the bucket; logs a failure and throws 503. */
export async function fromBucket<Result>(
  context: RequestContext,
  request: () => Promise<Result>,
): Promise<Result> {
  try {
    return await request()
  } catch (error) {
    const error_name = error instanceof Error ? error.name : typeof error
    const { id } = context.var.log
    console.error(JSON.stringify({ event: 'bucket_error', request_id: id, error_name }))
    throw shareError('bucket', { 'Retry-After': '5' })
  }
}
