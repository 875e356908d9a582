import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** A cell: a number, also for a date, a text or a boolean; null when it is empty. */
type Cell = string | number | boolean | null

/** What a script has done. */
export type World = {
  /** Rows of each sheet, with the formats of their cells. */
  readonly sheets: Readonly<
    Record<
      string,
      {
        readonly rows: readonly (readonly Cell[])[]
        readonly formats: readonly (readonly (string | null)[])[]
      }
    >
  >
  readonly userProperties: Readonly<Record<string, string>>
  readonly documentProperties: Readonly<Record<string, string>>
  /** Functions that triggers call. */
  readonly triggers: readonly string[]
  readonly toasts: readonly string[]
  readonly alerts: readonly string[]
}

/** A project of Apps Script that runs. */
export type Script = {
  /** Calls a function of the project; rejects with the message of its error. */
  readonly call: <Result>(name: string, ...args: readonly unknown[]) => Promise<Result>
  readonly world: () => Promise<World>
  /** Status codes that the script received. */
  readonly statuses: number[]
}

type Sent = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

export type Options = {
  /** A folder of `connectors/`. */
  readonly folder: string
  /** Answers to the prompts of the script. */
  readonly prompts?: readonly string[]
  /** Cells of other sheets in the spreadsheet. */
  readonly otherCells?: number
  /** Whether another run is under way. */
  readonly isLocked?: boolean
  /** What each request takes on the script's clock, in milliseconds. */
  readonly requestMs?: number
  /** Runs before each request. Can drop the connection by an error. */
  readonly beforeRequest?: (sent: Sent) => Promise<void>
}

/**
 * Runs a project of Apps Script in a thread, over stand-ins for Google's services. Requests go to the network from here.
 */
export function startAppsScript({
  folder,
  prompts = [],
  otherCells = 1000,
  isLocked = false,
  requestMs = 0,
  beforeRequest,
}: Options): Script {
  const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url))
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const { port1: requests, port2 } = new MessageChannel()
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { path, prompts, otherCells, isLocked, requestMs, signal, requests: port2 },
    transferList: [port2],
  })
  onTestFinished(async () => {
    requests.close()
    await worker.terminate()
  })
  const statuses: number[] = []
  // Apps Script sends this, whatever a script sets. Each project has an id of its own.
  const agent = `Mozilla/5.0 (compatible; Google-Apps-Script; beanserver; +https://script.google.com; id: ${randomUUID()})`
  requests.on('message', async (data: Sent) => {
    const answered = await answer(
      { ...data, headers: { ...data.headers, 'User-Agent': agent } },
      beforeRequest,
    ).catch((error) => ({ error: String(error) }))
    if ('status' in answered) statuses.push(answered.status)
    requests.postMessage(answered)
    Atomics.store(signal, 0, 1)
    Atomics.notify(signal, 0)
  })
  const send = async (message: object) => {
    worker.postMessage(message)
    const [{ result, error }] = await once(worker, 'message')
    if (error !== undefined) throw new Error(error)
    return result
  }
  return {
    call: (name, ...args) => send({ name, args }),
    world: () => send({}),
    statuses,
  }
}

async function answer({ url, headers }: Sent, beforeRequest: Options['beforeRequest']) {
  await beforeRequest?.({ url, headers })
  const response = await fetch(url, { headers })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  }
}
