import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { BASE } from '../../lib/app.ts'

/** What the heap of each path's Worker holds once its garbage is collected (MiB), by the path. */
export type Heaps = ReadonlyMap<string, number>

/** Has V8 collect the garbage of the Workers of some paths, and asks what is left; `inspector` is the runtime's address. */
export async function heaps(
  { url, inspector }: { readonly url: string; readonly inspector: string },
  paths: readonly string[],
): Promise<Heaps> {
  const { body } = await request(new URL('/json', inspector))
  const targets = (await body.json()) as { id: string; webSocketDebuggerUrl: string }[]
  const held = new Map<string, number>()
  for (const path of paths) {
    const target = targets.find(({ id }) => id === `core:user:${path.slice(1)}`)
    if (target === undefined) throw new Error(`The inspector knows no Worker of ${path}`)
    held.set(path, await heapOf(target.webSocketDebuggerUrl, url + BASE + path))
  }
  return held
}

async function heapOf(debuggerUrl: string, worker: string): Promise<number> {
  const socket = new WebSocket(debuggerUrl)
  try {
    await once(socket, 'open')
    let asleep = true
    const collected = call(socket, 'HeapProfiler.collectGarbage').finally(() => {
      asleep = false
    })
    // A Worker that answers nobody does not collect either.
    while (asleep) {
      await (await request(worker)).body.dump()
      await sleep(20)
    }
    await collected
    const { usedSize, backingStorageSize } = await call(socket, 'Runtime.getHeapUsage')
    return ((usedSize ?? Number.NaN) + (backingStorageSize ?? Number.NaN)) / 1024 ** 2
  } finally {
    socket.close()
  }
}

/** One call of the DevTools protocol at a time. */
async function call(socket: WebSocket, method: string): Promise<Record<string, number>> {
  socket.send(JSON.stringify({ id: 1, method }))
  for (;;) {
    const [{ data }] = await once(socket, 'message', { signal: AbortSignal.timeout(30_000) })
    const { id, result } = JSON.parse(String(data))
    if (id === 1) return result
  }
}
