import { neonConfig } from '@neondatabase/serverless'

/** A request that Neon's client sent. */
export type NeonRequest = {
  readonly query: unknown
  readonly params: unknown
  readonly headers: Headers
  readonly signal: AbortSignal | null
}

export type NeonAnswer = (request: NeonRequest) => Response | Promise<Response>

/** Answers the requests of Neon's client in this process, one after the other; returns the list of requests. */
export function neonAnswers(...answers: readonly NeonAnswer[]): NeonRequest[] {
  const requests: NeonRequest[] = []
  neonConfig.fetchFunction = async (_: string, init: RequestInit) => {
    const { query, params } = JSON.parse(String(init.body))
    const request = { query, params, headers: new Headers(init.headers), signal: init.signal ?? null }
    requests.push(request)
    const answer = answers[requests.length - 1]
    if (answer === undefined) throw new Error('Neon received an unexpected request')
    return answer(request)
  }
  return requests
}

/** A result as Neon sends it; `rowCount` is correct unless given. */
export const neonRows =
  (
    rows: readonly (readonly unknown[])[],
    { rowCount = rows.length, columns = ['one', 'two'] }: { rowCount?: unknown; columns?: string[] } = {},
  ): NeonAnswer =>
  () =>
    Response.json({
      command: 'SELECT',
      rowCount,
      fields: columns.map((name) => ({ name, dataTypeID: 20 })),
      rows,
      rowAsArray: true,
    })

/** A Postgres error as Neon sends it. */
export const neonFails =
  (failure: { readonly message: string; readonly code?: string | undefined }): NeonAnswer =>
  () =>
    Response.json(failure, { status: 400 })

/** Sends nothing until the request is aborted. */
export const silence = ({ signal }: { readonly signal?: AbortSignal | null }): Promise<never> =>
  new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)))
