import { readdirSync, readFileSync } from 'node:fs'
import { median as middle } from 'd3-array'
import type { ClientBase } from 'pg'
import type { Service } from './service.ts'

/** Returns the milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export const median = (numbers: readonly number[]): number => middle(numbers) ?? Number.NaN

/**
 * Runs measurements in alternating order, so that a disturbance of the machine affects all of them. The first round
 * warms up. Returns a function that gives the median of one property over the rounds of one name.
 */
export async function alternate<Name extends string, Measure>(
  measurements: Readonly<Record<Name, () => Promise<Measure>>>,
  rounds: number,
): Promise<(name: Name, value: (measure: Measure) => number) => number> {
  const results = new Map<string, Measure[]>()
  const entries = Object.entries<() => Promise<Measure>>(measurements)
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      const result = await measure()
      if (round > 0) results.set(name, [...(results.get(name) ?? []), result])
    }
  }
  return (name, value) => median((results.get(name) ?? []).map(value))
}

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

/** Returns a function that measures work. */
export const meterOf =
  ({ client, state }: Metered) =>
  async (work: () => Promise<unknown>): Promise<Used> => {
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
