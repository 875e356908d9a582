import { neonConfig } from '@neondatabase/serverless'

/** What Neon was asked: a statement, its values, and what came with them. */
export type RequestContext = {
  readonly query: unknown
  readonly params: unknown
  readonly headers: Headers
  readonly signal: AbortSignal | null
}

export type NeonAnswer = (asked: RequestContext) => Response | Promise<Response>

/** Answers in Neon's place what its client asks in this process, one after the other; gives what was asked. */
export function neonAnswers(...answers: readonly NeonAnswer[]): RequestContext[] {
  const asked: RequestContext[] = []
  neonConfig.fetchFunction = async (_: string, init: RequestInit) => {
    const { query, params } = JSON.parse(String(init.body))
    const question = { query, params, headers: new Headers(init.headers), signal: init.signal ?? null }
    asked.push(question)
    const answer = answers[asked.length - 1]
    if (answer === undefined) throw new Error('Neon is asked once too often')
    return answer(question)
  }
  return asked
}

/** Rows as Neon sends them, with what it says of them beside: by default the truth about rows of two columns. */
export const neonRows =
  (
    rows: readonly (readonly unknown[])[],
    { rowCount = rows.length, columns = 2 }: { rowCount?: unknown; columns?: number } = {},
  ): NeonAnswer =>
  () =>
    Response.json({
      command: 'SELECT',
      rowCount,
      fields: Array.from({ length: columns }, (_, column) => ({ name: `column ${column}`, dataTypeID: 20 })),
      rows,
      rowAsArray: true,
    })

/** A failure of Postgres, as Neon tells it. */
export const neonFails =
  (failure: { readonly message: string; readonly code?: string | undefined }): NeonAnswer =>
  () =>
    Response.json(failure, { status: 400 })

/** Says nothing until whoever asks gives up. */
export const silence = ({ signal }: { readonly signal?: AbortSignal | null }): Promise<never> =>
  new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)))
