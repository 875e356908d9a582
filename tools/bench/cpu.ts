import { readdirSync, readFileSync } from 'node:fs'
import type { ClientBase } from 'pg'

/** Milliseconds of CPU that each process has used since its start. */
type Cpu = ReadonlyMap<number, number>

/** Reads the CPU time of processes with all their threads from Linux's scheduler. */
export function cpuOf(pids: Iterable<number>): Cpu {
  return new Map(
    [...pids].map((pid) => [pid, threadsOf(pid).reduce((sum, thread) => sum + cpuMs(thread), 0)]),
  )
}

/** Returns the CPU milliseconds between two readings. A process that started in between counts from its start. */
export function cpuUsed(before: Cpu, after: Cpu): number {
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)
}

/** Returns a process and its living descendants. */
function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => read(`${thread}/children`).split(' ').filter(Boolean))
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))]
}

/** Returns the workerd processes among the descendants of a process. */
export const workerdOf = (pid: number): number[] =>
  familyOf(pid).filter((each) => read(`/proc/${each}/comm`).trim() === 'workerd')

/** Returns the PostgreSQL processes that serve other clients of this database. */
export async function backendsOf(client: ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows.map(({ pid }) => pid)
}

/** Turns off parallel workers, whose CPU time would disappear with their processes. Connections that are open keep theirs. */
export const withoutParallelWorkers = (client: ClientBase) =>
  client.query(`do $$ begin
    execute format('alter role %I in database %I set max_parallel_workers_per_gather = 0', current_user, current_database()); end $$`)

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
  } catch {
    return []
  }
}

const cpuMs = (thread: string): number => Number(read(`${thread}/schedstat`).split(' ')[0]) / 1e6

/** Reads a file that disappears with its process. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
