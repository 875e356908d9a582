import { randomUUID } from 'node:crypto'
import { connect, fetchBody, type Load } from './http.ts'

/** Requests under one `User-Agent`: half of a client's budget. */
const REQUESTS_PER_CLIENT = 50

async function generate({ url, path, headers, body, connections, seconds }: Load): Promise<number[]> {
  const pool = connect(url, connections)
  const run = randomUUID()
  const latencies: number[] = []
  const end = performance.now() + seconds * 1000
  let requests = 0
  try {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        do {
          const client = `${run} ${Math.floor(requests++ / REQUESTS_PER_CLIENT)}`
          const start = performance.now()
          const received = await fetchBody(pool, { path, headers: { ...headers, 'User-Agent': client } })
          latencies.push(performance.now() - start)
          if (!received.equals(body)) throw new Error(`${url} returned a different page than before`)
        } while (performance.now() < end)
      }),
    )
  } finally {
    await pool.destroy()
  }
  return latencies
}

process.once('message', (load: Load) => {
  generate(load).then(
    (latencies) => process.send?.(latencies, () => process.disconnect()),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
