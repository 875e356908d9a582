import { readdirSync, readFileSync } from 'node:fs'
import type { ClientBase } from 'pg'
import type { Service } from './service.ts'
import { timed } from './timing.ts'

/** What some work took: time and, of the service, CPU, bytes from Neon and requests. */
export type Used = {
  readonly ms: number
  readonly workerCpuMs: number
  readonly postgresCpuMs: number
  readonly transferredBytes: number
  readonly requests: number
  /** Requests that the rate limit counted. */
  readonly consumed: number
}

type Metered = Pick<Service, 'state'> & { readonly client: ClientBase }

/** Returns a function that measures work. Its `prepare` is not measured. */
export const meterOf =
  ({ client, state }: Metered) =>
  (work: () => Promise<unknown>, prepare: () => Promise<unknown> = async () => {}) =>
  async (): Promise<Used> => {
    await prepare()
    const read = async () => ({
      worker: cpuOf(workerds()),
      postgres: cpuOf(await backendsOf(client)),
      ...state,
    })
    const before = await read()
    const ms = await timed(work)
    const after = await read()
    return {
      ms,
      workerCpuMs: cpuUsed(before.worker, after.worker),
      postgresCpuMs: cpuUsed(before.postgres, after.postgres),
      transferredBytes: after.receivedBytes - before.receivedBytes,
      requests: after.requests - before.requests,
      consumed: after.consumed - before.consumed,
    }
  }

/** Returns the medians of each property of one name that `alternate` measured. */
export const mediansOf = <Name>(
  measured: (name: Name, value: (used: Used) => number) => number,
  name: Name,
): Used => ({
  ms: measured(name, ({ ms }) => ms),
  workerCpuMs: measured(name, ({ workerCpuMs }) => workerCpuMs),
  postgresCpuMs: measured(name, ({ postgresCpuMs }) => postgresCpuMs),
  transferredBytes: measured(name, ({ transferredBytes }) => transferredBytes),
  requests: measured(name, ({ requests }) => requests),
  consumed: measured(name, ({ consumed }) => consumed),
})

/** Milliseconds of CPU that each process has used since its start. */
type Cpu = ReadonlyMap<string, number>

/** Reads the CPU time of processes with all their threads from Linux's scheduler. */
const cpuOf = (pids: readonly string[]): Cpu =>
  new Map(pids.map((pid) => [pid, threadsOf(pid).reduce((sum, thread) => sum + cpuMs(thread), 0)]))

/** Returns the CPU milliseconds between two readings. A process that started in between counts from its start. */
const cpuUsed = (before: Cpu, after: Cpu): number =>
  [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)

/** Returns the workerd processes that this process has started. */
const workerds = (): string[] =>
  threadsOf('self')
    .flatMap((thread) => read(`${thread}/children`).split(' ').filter(Boolean))
    .filter((pid) => read(`/proc/${pid}/comm`).trim() === 'workerd')

/** Returns the PostgreSQL processes that serve other clients of this database. */
async function backendsOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ pid: string }>(
    `select pid::text from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows.map(({ pid }) => pid)
}

const threadsOf = (pid: string): string[] =>
  unlessGone(() => readdirSync(`/proc/${pid}/task`), []).map((thread) => `/proc/${pid}/task/${thread}`)

const cpuMs = (thread: string): number => Number(read(`${thread}/schedstat`).split(' ')[0]) / 1e6

const read = (path: string): string => unlessGone(() => readFileSync(path, 'utf8'), '')

/** Files of a process disappear with it. */
function unlessGone<Content>(get: () => Content, otherwise: Content): Content {
  try {
    return get()
  } catch {
    return otherwise
  }
}
