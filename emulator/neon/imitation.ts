import type { PoolClient, QueryArrayConfig } from 'pg'
import { openPools } from './pools.ts'
import { authenticate, type NeonQuery, parseNeonRequest, passwordsOf } from './request.ts'
import { errorResponse, jsonResponse, writeResult } from './response.ts'

/**
 * Answers Neon's SQL over HTTP as its proxy does, for what Workers send: one query, whose cells are text. Accepts the
 * users and passwords of `connectionStrings`.
 */
export function imitateNeon(databaseUrl: string, connectionStrings: readonly string[]) {
  const pools = openPools(databaseUrl)
  const passwords = passwordsOf(connectionStrings)

  async function answer(request: Request): Promise<string> {
    const account = authenticate(request.headers.get('Neon-Connection-String') ?? '', passwords)
    const query = await parseNeonRequest(request)
    const connection = await pools.connect(account, request.signal)
    try {
      const result = run(connection.client, query).then(writeResult)
      const json = await Promise.race([result, rejectOnAbort(request.signal)])
      connection.release()
      return json
    } catch (error) {
      if (request.signal.aborted) connection.cancel()
      else connection.destroy()
      throw error
    }
  }

  return {
    handle: (request: Request) => answer(request).then((json) => jsonResponse(200, json), errorResponse),
    close: pools.end,
  }
}

/** Rejects when the caller is gone, so that a silent connection does not keep the handler waiting. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function run(client: PoolClient, { query, params }: NeonQuery) {
  const statement: QueryArrayConfig & { queryMode: 'extended' } = {
    text: query,
    values: params,
    rowMode: 'array',
    // Without parameters pg uses the simple protocol, which takes several statements. Neon never does.
    queryMode: 'extended',
    types: { getTypeParser: () => (text: string) => text },
  }
  return client.query<(string | null)[]>(statement)
}
