import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { Emulator } from '../../emulator/start.ts'
import { BASE } from '../../lib/app.ts'

type Inspected = Pick<Emulator, 'url' | 'inspectorUrl'>

/** Collects the garbage of a path's Worker, and returns the MiB of its heap. */
export const heapSize = (service: Inspected, path: string): Promise<number> =>
  inspect(service, path.slice(1), (socket) => collected(socket, service.url + BASE + path))

/** Returns the most MiB of a Worker's heap during some work. Garbage is collected before each look. */
export function peakHeap(service: Inspected, path: string, work: () => Promise<unknown>): Promise<number> {
  const url = service.url + BASE + path
  return inspect(service, path.slice(1), async (socket) => {
    let peak = await collected(socket, url)
    let isWorking = true
    const working = work().finally(() => {
      isWorking = false
    })
    while (isWorking) peak = Math.max(peak, await collected(socket, url))
    await working
    return peak
  })
}

/** Returns the most MiB of a scheduled Worker's heap during a run, after collections of garbage. */
export function peakHeapOfRun(
  service: Pick<Emulator, 'inspectorUrl' | 'runCron'>,
  worker: string,
): Promise<number> {
  return inspect(service, worker, async (socket) => {
    let peak = 0
    let isOver = false
    const run = service.runCron(worker).finally(() => {
      isOver = true
    })
    const look = () => call(socket, 'HeapProfiler.collectGarbage').then(() => heapOf(socket))
    // An idle Worker does not answer.
    while (!isOver) peak = Math.max(peak, await Promise.race([look(), run.then(() => 0)]))
    await run
    return peak
  })
}

/** Connects to the debugger of a Worker. */
async function inspect(
  { inspectorUrl }: Pick<Emulator, 'inspectorUrl'>,
  worker: string,
  use: (socket: WebSocket) => Promise<number>,
): Promise<number> {
  const { body } = await request(new URL('/json', inspectorUrl))
  const targets = (await body.json()) as { id: string; webSocketDebuggerUrl: string }[]
  const target = targets.find(({ id }) => id === `core:user:${worker}`)
  if (target === undefined) throw new Error(`The inspector has no Worker ${worker}`)
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  try {
    await once(socket, 'open')
    return await use(socket)
  } finally {
    socket.close()
  }
}

async function collected(socket: WebSocket, workerUrl: string): Promise<number> {
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
  return heapOf(socket)
}

async function heapOf(socket: WebSocket): Promise<number> {
  const { usedSize, backingStorageSize } = await call(socket, 'Runtime.getHeapUsage')
  return ((usedSize ?? Number.NaN) + (backingStorageSize ?? Number.NaN)) / 1024 ** 2
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
