import type { PoolClient, QueryArrayConfig } from 'pg'
import { authenticate, passwordsOf } from './authenticate.ts'
import type { Neon, NeonOptions } from './neon.ts'
import { openPools } from './pools.ts'
import { NeonError, type NeonQuery, parseNeonRequest } from './request.ts'
import { createWriter, errorResponse, jsonResponse, type Output } from './response.ts'

const ISOLATION = new Map([
  ['ReadUncommitted', 'READ UNCOMMITTED'],
  ['ReadCommitted', 'READ COMMITTED'],
  ['RepeatableRead', 'REPEATABLE READ'],
  ['Serializable', 'SERIALIZABLE'],
])

/** Answers Neon's SQL over HTTP as its proxy does: one query, or a batch in one transaction. */
export function imitateNeon({ databaseUrl, connectionStrings }: NeonOptions): Neon {
  const pools = openPools(databaseUrl)
  const passwords = passwordsOf(connectionStrings)

  async function answer(request: Request): Promise<string> {
    const account = authenticate(request.headers.get('Neon-Connection-String'), passwords)
    const begin = beginOf(request.headers)
    const body = await parseNeonRequest(request)
    const connection = await pools.connect(account, request.signal)
    const write = createWriter(outputOf(request.headers))
    try {
      const { client } = connection
      const result =
        'query' in body ? run(client, body).then(write) : runBatch(client, begin, body.queries, write)
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
    handle: (request) => answer(request).then((json) => jsonResponse(200, json), errorResponse),
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

const outputOf = (headers: Headers): Output => ({
  rawText: headers.get('Neon-Raw-Text-Output') === 'true',
  arrays: headers.get('Neon-Array-Mode') === 'true',
})

function beginOf(headers: Headers): string {
  const header = headers.get('Neon-Batch-Isolation-Level')
  const isolation = ISOLATION.get(header ?? '')
  if (header !== null && isolation === undefined) throw new NeonError(400, 'invalid isolation level')
  return [
    'BEGIN',
    isolation === undefined ? '' : `ISOLATION LEVEL ${isolation}`,
    headers.get('Neon-Batch-Read-Only') === 'true' ? 'READ ONLY' : '',
    headers.get('Neon-Batch-Deferrable') === 'true' ? 'DEFERRABLE' : '',
  ].join(' ')
}

type Writer = ReturnType<typeof createWriter>

async function runBatch(client: PoolClient, begin: string, queries: NeonQuery[], write: Writer) {
  await client.query(begin)
  const results: string[] = []
  for (const query of queries) results.push(write(await run(client, query)))
  await client.query('COMMIT')
  return `{"results":[${results}]}`
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
