import { once } from 'node:events'
import { request } from 'undici'
import type { Emulator } from '../../emulator/emulator.ts'

/** Returns the most MiB of a Worker's heap during some work. Garbage is collected before each look. */
export async function peakHeap(
  { inspectorUrl }: Pick<Emulator, 'inspectorUrl'>,
  worker: string,
  work: () => Promise<unknown>,
): Promise<number> {
  const { body } = await request(new URL('/json', inspectorUrl))
  const targets = (await body.json()) as { id: string; webSocketDebuggerUrl: string }[]
  const target = targets.find(({ id }) => id === `core:user:${worker}`)
  if (target === undefined) throw new Error(`The inspector has no Worker ${worker}`)
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  try {
    await once(socket, 'open')
    let peak = 0
    let isWorking = true
    const working = work().finally(() => {
      isWorking = false
    })
    // An idle Worker does not answer.
    const ended = working.then(() => 0)
    while (isWorking) peak = Math.max(peak, await Promise.race([heapOf(socket), ended]))
    await working
    return peak
  } finally {
    socket.close()
  }
}

async function heapOf(socket: WebSocket): Promise<number> {
  await call(socket, 'HeapProfiler.collectGarbage')
  const { usedSize, backingStorageSize } = await call(socket, 'Runtime.getHeapUsage')
  return ((usedSize ?? Number.NaN) + (backingStorageSize ?? Number.NaN)) / 1024 ** 2
}

/** Calls a method of the DevTools protocol. Only one call may run at a time. */
async function call(socket: WebSocket, method: string): Promise<Record<string, number>> {
  socket.send(JSON.stringify({ id: 1, method }))
  for (;;) {
    const [{ data }] = await once(socket, 'message')
    const { id, result } = JSON.parse(String(data))
    if (id === 1) return result
  }
}
