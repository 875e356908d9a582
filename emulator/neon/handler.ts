import pg, { type PoolClient, type QueryArrayConfig } from 'pg'
import type { Pools } from './pools.ts'
import { type NeonQuery, parseNeonRequest } from './request.ts'
import { errorResponse, limited, type Output, resultOf } from './response.ts'

const ISOLATION = new Map([
  ['ReadUncommitted', 'READ UNCOMMITTED'],
  ['ReadCommitted', 'READ COMMITTED'],
  ['RepeatableRead', 'REPEATABLE READ'],
  ['Serializable', 'SERIALIZABLE'],
])

/** Answers Neon's SQL over HTTP as its proxy does: one query, or a batch in one transaction. */
export function neon(pools: Pools): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = await parseNeonRequest(request)
    if (typeof body === 'string') return Response.json({ message: body }, { status: 400 })
    const isolation = request.headers.get('Neon-Batch-Isolation-Level')
    if (isolation !== null && !ISOLATION.has(isolation)) {
      return Response.json({ message: 'invalid isolation level' }, { status: 400 })
    }

    let client: PoolClient
    try {
      client = await (await pools.forConnection(request.headers.get('Neon-Connection-String'))).connect()
    } catch (error) {
      return errorResponse(error, 'connecting')
    }
    const isBroken = watchForErrors(client)
    let fatal = false
    try {
      const output = outputOf(request.headers)
      const result =
        'query' in body
          ? run(client, body, output)
          : inTransaction(client, begin(request.headers), body.queries, output)
      return limited(JSON.stringify(await Promise.race([result, rejectOnAbort(request.signal)])))
    } catch (error) {
      // The error arrives before the connection's own event; the next query must not get this connection.
      if (endsConnection(error)) fatal = true
      return errorResponse(error, 'querying')
    } finally {
      client.release(isBroken() || fatal)
    }
  }
}

/** Rejects when the caller is gone, so that a silent connection does not keep the handler waiting. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Listens for a broken connection, which without a listener would end the process. Returns whether it broke. */
function watchForErrors(client: PoolClient): () => boolean {
  let broken = false
  const listener = () => {
    broken = true
  }
  client.on('error', listener)
  return () => {
    client.off('error', listener)
    return broken
  }
}

const endsConnection = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL'

const outputOf = (headers: Headers): Output => ({
  rawText: headers.get('Neon-Raw-Text-Output') === 'true',
  arrays: headers.get('Neon-Array-Mode') === 'true',
})

function begin(headers: Headers): string {
  const isolation = ISOLATION.get(headers.get('Neon-Batch-Isolation-Level') ?? '')
  return [
    'BEGIN',
    isolation === undefined ? '' : `ISOLATION LEVEL ${isolation}`,
    headers.get('Neon-Batch-Read-Only') === 'true' ? 'READ ONLY' : '',
    headers.get('Neon-Batch-Deferrable') === 'true' ? 'DEFERRABLE' : '',
  ].join(' ')
}

async function inTransaction(client: PoolClient, begin: string, queries: NeonQuery[], output: Output) {
  await client.query(begin)
  try {
    const results = []
    for (const query of queries) results.push(await run(client, query, output))
    await client.query('COMMIT')
    return { results }
  } catch (error) {
    // Report the first error. A rollback that fails as well means that the connection is gone.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function run(client: PoolClient, { query, params }: NeonQuery, output: Output) {
  const statement: QueryArrayConfig & { queryMode: 'extended' } = {
    text: query,
    values: params,
    rowMode: 'array',
    // Without parameters pg uses the simple protocol, which takes several statements. Neon never does.
    queryMode: 'extended',
    types: { getTypeParser: () => (text: string) => text },
  }
  return resultOf(await client.query<(string | null)[]>(statement), output)
}
