import { readFileSync } from 'node:fs'
import { median } from '../bench/timing.ts'

/** Records the resident memory of processes, as Linux reports it. */
export function recordMemory(processes: Readonly<Record<string, number>>) {
  const records = Object.entries(processes).map(([name, pid]) => ({ name, pid, samples: [] as number[] }))
  return {
    sample: (): void => {
      for (const { pid, samples } of records) samples.push(residentMiB(pid))
    },
    /** Returns the median MiB of each process in equal parts of the time. */
    parts: (count: number) =>
      records.map(({ name, samples }) => ({
        name,
        mebibytes: Array.from({ length: count }, (_, part) =>
          median(samples.slice((part * samples.length) / count, ((part + 1) * samples.length) / count)),
        ),
      })),
  }
}

function residentMiB(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
