import { createApp, sendError } from '../http/app.ts'
import { readBearerKey } from '../request/api-key.ts'
import type { App, Middleware, RequestContext } from '../request/context.ts'
import { HttpError } from '../request/errors.ts'
import { sha256 } from '../request/hash.ts'
import { shareError, toBody, withChallenge } from './errors.ts'

/** Returns an app of the share: the key is a bearer token, and errors have the protocol's form. */
export function createShareApp(): App {
  const app = createApp()
  app.use(readBearerToken)
  app.notFound(() => {
    throw shareError('path')
  })
  app.onError((error, context) => sendError(withChallenge(error), context, toBody))
  return app
}

const readBearerToken: Middleware = async (context, next) => {
  const key = readBearerKey(context.req.header('Authorization') ?? '')
  context.get('log').keyHash = key && (await sha256(key))
  return next()
}

/** Runs a request to the bucket; logs a failure and throws 503. An `HttpError` passes. */
export async function fromBucket<Result>(
  context: RequestContext,
  request: () => Promise<Result>,
): Promise<Result> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof HttpError) throw error
    const error_name = error instanceof Error ? error.name : typeof error
    const { id } = context.var.log
    console.error(JSON.stringify({ event: 'bucket_error', request_id: id, error_name }))
    throw shareError('bucket', { 'Retry-After': '5' })
  }
}
