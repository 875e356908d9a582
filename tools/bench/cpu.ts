import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds that processes have run on a processor since they started, by process. */
export type Cpu = ReadonlyMap<number, number>

/** The processor time of some processes with all their threads, as Linux's scheduler counts it, in nanoseconds at heart. */
export function cpuOf(pids: Iterable<number>): Cpu {
  return new Map([...pids].map((pid) => [pid, threadsOf(pid).reduce((sum, thread) => sum + ran(thread), 0)]))
}

/** What processes ran between two looks; one that started in between counts from its start. */
export function spent(before: Cpu, after: Cpu): number {
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)
}

/** A process and all that it started, as far as they live. */
export function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => read(`${thread}/children`).split(' ').filter(Boolean))
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))]
}

/** The name of a process's program. */
export const programOf = (pid: number): string => read(`/proc/${pid}/comm`).trim()

/** Whether this system tells the processor time of this very process. */
export const isCounted = (): boolean => threadsOf(process.pid).some((thread) => ran(thread) > 0)

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
  } catch {
    return []
  }
}

const ran = (thread: string): number => Number(read(`${thread}/schedstat`).split(' ')[0]) / 1e6

/** A file that is gone as soon as its process is. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
