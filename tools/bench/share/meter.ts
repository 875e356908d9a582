import type { BrandYear } from '../brand-year.ts'
import { backendsOf, cpuOf, cpuUsed, workerdOf } from '../cpu.ts'
import { type alternate, timed } from '../timing.ts'

/** What some work took: time and, of the service, CPU, bytes from Neon and requests of the budget. */
export type Used = {
  readonly ms: number
  readonly workerCpuMs: number
  readonly postgresCpuMs: number
  readonly transferredBytes: number
  readonly consumed: number
}

/** Returns a function that measures work. Its `prepare` is not measured. */
export const meterOf =
  ({ client, state }: Pick<BrandYear, 'client' | 'state'>) =>
  (work: () => Promise<unknown>, prepare: () => Promise<unknown> = async () => {}) =>
  async (): Promise<Used> => {
    await prepare()
    const read = async () => ({
      worker: cpuOf(workerdOf(process.pid)),
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
      consumed: after.consumed - before.consumed,
    }
  }

/** Returns the medians of one name that `alternate` measured. */
export function mediansOf(measured: Awaited<ReturnType<typeof alternate<Used>>>, name: string): Used {
  return {
    ms: measured(name, ({ ms }) => ms),
    workerCpuMs: measured(name, ({ workerCpuMs }) => workerCpuMs),
    postgresCpuMs: measured(name, ({ postgresCpuMs }) => postgresCpuMs),
    transferredBytes: measured(name, ({ transferredBytes }) => transferredBytes),
    consumed: measured(name, ({ consumed }) => consumed),
  }
}
