import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { BASE } from '../../lib/app.ts'

/** Collects the garbage of the Workers of some paths, and returns the MiB of each heap. */
export async function heaps(
  { url, inspector }: { readonly url: string; readonly inspector: string },
  paths: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { body } = await request(new URL('/json', inspector))
  const targets = (await body.json()) as { id: string; webSocketDebuggerUrl: string }[]
  const sizes = new Map<string, number>()
  for (const path of paths) {
    const target = targets.find(({ id }) => id === `core:user:${path.slice(1)}`)
    if (target === undefined) throw new Error(`The inspector has no Worker for ${path}`)
    sizes.set(path, await heapOf(target.webSocketDebuggerUrl, url + BASE + path))
  }
  return sizes
}

async function heapOf(debuggerUrl: string, workerUrl: string): Promise<number> {
  const socket = new WebSocket(debuggerUrl)
  try {
    await once(socket, 'open')
    let isCollecting = true
    const collection = call(socket, 'HeapProfiler.collectGarbage').finally(() => {
      isCollecting = false
    })
    // An idle Worker does not collect: requests wake it up.
    while (isCollecting) {
      await (await request(workerUrl)).body.dump()
      await sleep(20)
    }
    await collection
    const { usedSize, backingStorageSize } = await call(socket, 'Runtime.getHeapUsage')
    return ((usedSize ?? Number.NaN) + (backingStorageSize ?? Number.NaN)) / 1024 ** 2
  } finally {
    socket.close()
  }
}

/** Calls a method of the DevTools protocol. Only one call may run at a time. */
async function call(socket: WebSocket, method: string): Promise<Record<string, number>> {
  socket.send(JSON.stringify({ id: 1, method }))
  for (;;) {
    const [{ data }] = await once(socket, 'message', { signal: AbortSignal.timeout(30_000) })
    const { id, result } = JSON.parse(String(data))
    if (id === 1) return result
  }
}
