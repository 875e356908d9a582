import { readFileSync } from 'node:fs'
import { median } from '../bench/rounds.ts'

/** Memory of some processes over time. */
export type Memory = {
  /** Looks once. */
  readonly look: () => void
  /** Medians, in MiB, of each of some equal parts of the time, by process. */
  readonly parts: (count: number) => { readonly name: string; readonly mebibytes: readonly number[] }[]
}

/** Watches what processes hold in memory (resident, by Linux). */
export function memory(processes: Readonly<Record<string, number>>): Memory {
  const looks = Object.entries(processes).map(([name, pid]) => ({ name, pid, held: [] as number[] }))
  return {
    look: () => {
      for (const { pid, held } of looks) held.push(residentOf(pid))
    },
    parts: (count) =>
      looks.map(({ name, held }) => ({
        name,
        mebibytes: Array.from({ length: count }, (_, part) =>
          median(held.slice((part * held.length) / count, ((part + 1) * held.length) / count)),
        ),
      })),
  }
}

function residentOf(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
