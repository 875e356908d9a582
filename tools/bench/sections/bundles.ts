import { bundle } from '../../../bundle/bundle.ts'
import { gzipLimit } from '../../../test/support/bundle-limit.ts'
import { EMPTY, type Loaded, withIsolates } from '../isolates.ts'
import { figure } from '../print.ts'
import { inTurns, median, timed } from '../rounds.ts'
import type { Section } from '../section.ts'

const ROUNDS = 15

/** Warm requests for each cold one. */
const WARM = 5

type Start = { readonly cold: number; readonly warm: number }

/** How large each Worker is, and what the first request of a fresh isolate waits. */
export const section: Section = async ({ sized, tell }) => {
  const bundles = await bundle()
  const rounds = Math.max(5, Math.round(sized(ROUNDS)))
  tell('fresh isolates')
  let routed: readonly string[] = []
  const starts = await withIsolates((workers) => {
    routed = workers.map(({ name }) => name).filter((name) => name !== EMPTY)
    let isolates = 0
    const start = (worker: Loaded) => async (): Promise<Start> => {
      isolates += 1
      return started(worker, isolates)
    }
    return inTurns(Object.fromEntries(workers.map((worker) => [worker.name, start(worker)])), rounds)
  })
  const middle = (name: string, of: keyof Start) => median(starts(name).map((each) => each[of]))
  const typical = (of: keyof Start) => median(routed.map((name) => middle(name, of)))
  return [
    {
      title: 'Each Worker’s size and its start',
      columns: [
        'Worker',
        'bytes',
        'gzip',
        'gzip, of its limit',
        'first request, warm = 1',
        'first request, an empty Worker’s = 1',
      ],
      rows: bundles.map(({ name, bytes, gzip }) => [
        name,
        bytes,
        gzip,
        gzip / gzipLimit(name),
        routed.includes(name) ? middle(name, 'cold') / middle(name, 'warm') : '',
        routed.includes(name) ? middle(name, 'cold') / middle(EMPTY, 'cold') : '',
      ]),
      note: `Limits: 120 KiB, openapi and docs 40 KiB. First request: of an isolate that workerd makes for it out of the bundle’s text, by its worker loader; it holds the handing over and compiling of the bundle, its global scope, and a request with an unknown key, to which Neon and Upstash answer at once (a Worker, by the median of all: ${figure(typical('cold'))} ms, warm ${figure(typical('warm'))} ms; one that does nothing: ${figure(middle(EMPTY, 'cold'))} ms, warm ${figure(middle(EMPTY, 'warm'))} ms). Medians of ${rounds} alternating fresh isolates, and of ${WARM} warm requests to each. refresh has no path.`,
    },
  ]
}

/** The Workers that answer without a key; the others are asked without one, and refuse. */
const WITHOUT_KEY = new Set([EMPTY, 'openapi', 'docs', 'healthz'])

async function started({ ask, name }: Loaded, isolate: number): Promise<Start> {
  const once = async () => {
    const status = await ask(isolate)
    const due = WITHOUT_KEY.has(name) ? 200 : 401
    if (status !== due) throw new Error(`${name} answered ${status}, not ${due}`)
  }
  const cold = await timed(once)
  const warm: number[] = []
  for (let request = 0; request < WARM; request += 1) warm.push(await timed(once))
  return { cold, warm: median(warm) }
}
