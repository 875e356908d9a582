import { carryOver, textsOf } from './compare.ts'
import { parseCopy } from './copies.ts'
import { life, type Step } from './life.ts'
import { type Service, STREAMS, startService, type Tables } from './service.ts'
import { type Options, type Subject, startSubject, type Verdict } from './subject.ts'

/**
 * Runs a loader after each step of a service's life, and compares its copy with the service. Needs the bundles in dist/.
 * Throws `UsageError` for a copy that cannot be read, and when the first run fails.
 */
export async function certify(options: Options): Promise<readonly Verdict[]> {
  const [verdicts = []] = await certifyAll([options])
  return verdicts
}

/** Certifies several loaders, which run side by side, each behind a proxy of its own. */
export async function certifyAll(loaders: readonly Options[]): Promise<readonly (readonly Verdict[])[]> {
  for (const { copy } of loaders) parseCopy(copy)
  const service = await startService()
  const subjects: Subject[] = []
  try {
    for (const loader of loaders) subjects.push(await startSubject(loader, service))
    let expected: Tables = new Map()
    for (const step of life(service.today)) {
      if (step.sql) await service.change(step.sql)
      const broken = await runAll(subjects, service, step)
      const { tables, fromDate } = await service.read()
      expected = carryOver(STREAMS, { before: expected, now: tables, fromDate })
      const brandIds = (tables.get('brands') ?? []).map(({ id }) => String(id))
      const served = { texts: textsOf(STREAMS, expected), brandIds }
      for (const [index, subject] of subjects.entries())
        await subject.judge(step, broken[index] ?? [], served)
    }
    return subjects.map((subject) => subject.verdicts())
  } finally {
    for (const subject of subjects) await subject.close()
    await service.close()
  }
}

/** Runs the loaders side by side, or one by one when a run changes the service. Returns what each broke. */
async function runAll(subjects: readonly Subject[], service: Service, step: Step): Promise<string[][]> {
  const change = step.event?.change
  if (change === undefined) return Promise.all(subjects.map((subject) => subject.run(step)))
  const broken: string[][] = []
  for (const subject of subjects) {
    await service.change(change.undo)
    broken.push(await subject.run(step, () => service.change(change.sql)))
  }
  return broken
}
