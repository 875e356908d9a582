import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../drizzle/db/connect.ts'
import { messageMaker } from '../typescript/src/message.ts'
import { type Ended, type Loader, runLoader } from './command.ts'
import {
  type Copy,
  compare,
  type Difference,
  newDifferences,
  type Texts,
  unexpectedTypes,
} from './compare.ts'
import { copyReader } from './copies.ts'
import type { Step } from './life.ts'
import { type Fault, type Happening, startProxy } from './proxy.ts'
import { type Service, STREAMS } from './service.ts'

/** What documentation promises to the users of a loader, and whether it is kept. */
export type Verdict = {
  readonly promise: string
  /** Null when an earlier failure made it untestable. */
  readonly kept: boolean | null
  readonly detail: string
  /** What the run of the promise sent, if it is a promise of one run. */
  readonly requests?: number
}

export type Options = {
  readonly command: Loader
  /** `duckdb:FILE`, `postgres://…` or `jsonl:FOLDER`; paths are relative to the working folder. */
  readonly copy: string
  /** The schema of the tables. */
  readonly schema?: string | undefined
  /** The working folder of all runs. Default: a new one, which is deleted at the end. */
  readonly folder?: string | undefined
  /** Receives a line after each run. */
  readonly report?: (line: string) => void
}

/** What the service serves: its rows, and the brands that the key reads. */
export type Served = { readonly texts: Texts; readonly brandIds: readonly string[] }

type Disturbance = {
  readonly faults?: readonly Fault[] | undefined
  readonly happening?: Happening | undefined
  readonly killed?: AbortSignal
}

type Circumstances = { readonly obstacle?: string | undefined; readonly requests?: number }

export type Subject = Awaited<ReturnType<typeof startSubject>>

/** How many requests a detail shows, and how many characters of a row. */
const SHOWN = 3
const SHOWN_LENGTH = 300

/** Prepares the runs of a loader: its folder, its copy, and a proxy of its own. */
export async function startSubject(
  { command, copy, schema, folder, report = () => {} }: Options,
  service: Service,
) {
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'certify-')))
  await mkdir(cwd, { recursive: true })
  const readCopy = copyReader({ copy, schema, folder: cwd })
  const toMessage = messageMaker(service.key)
  /** The end of what a run printed. */
  const tail = ({ output }: Ended): string =>
    output.trimEnd().split('\n').slice(-20).map(toMessage).join('\n')
  const proxy = await startProxy(service.url)
  const verdicts: Verdict[] = []
  /** Judges a promise. `obstacle` says why one that does not look broken was not tested. */
  const judge = (promise: string, broken: readonly string[], { obstacle, ...run }: Circumstances = {}) => {
    const kept = broken.length > 0 ? false : obstacle === undefined ? true : null
    const detail = kept === null ? `Not testable: ${obstacle}` : broken.join('\n')
    verdicts.push({ promise, kept, detail, ...run })
  }
  const failed: string[] = []
  let known: readonly Difference[] = []
  let copied: Copy = new Map()
  /** Whether the last run that had to succeed has failed. */
  let isFailing = false
  let requests = 0

  /** Runs the loader once. */
  async function runOnce(promise: string, { faults, happening, killed }: Disturbance = {}): Promise<Ended> {
    const traffic = proxy.begin(faults, happening)
    const started = performance.now()
    const environment = {
      EXPORT_API_URL: proxy.url,
      EXPORT_API_KEY: service.key,
      EXPORT_API_START_DATE: service.startDate,
    }
    const ended = await runLoader(command, environment, cwd, killed)
    const seconds = Math.round((performance.now() - started) / 1000)
    requests = traffic.requests
    report(`${promise} ${requests} requests, ${seconds} s, exit code ${ended.code}`)
    return ended
  }

  return {
    /**
     * Runs the loader, again when it could not complete. During the first run, the event of a step kills it, or makes a
     * change. Throws `UsageError` when its first run fails.
     */
    run: async (step: Step, change?: () => Promise<unknown>): Promise<string[]> => {
      const { promise, faults, event, mayEnd = false, stops } = step
      const kill = new AbortController()
      let happened: Promise<unknown> | undefined
      const happen = () => {
        happened ??= change ? change() : Promise.resolve(kill.abort())
        return happened
      }
      const happening = event && { page: event.page, happen }
      let ended = await runOnce(promise, { faults, happening, killed: kill.signal })
      if (verdicts.length === 0) {
        if (ended.code !== 0)
          throw new UsageError(
            `The first run ended with exit code ${ended.code}. Fix the command.\n${tail(ended)}`,
          )
      }
      const broken = brokenBy(step, ended, requests)
      const lacksChange = change !== undefined && happened === undefined
      if (lacksChange) await happen()
      if (mayEnd && (ended.code !== 0 || lacksChange)) ended = await runOnce(promise)
      else if (stops !== undefined) return broken
      isFailing = ended.code !== 0
      if (isFailing) {
        failed.push(`Exit code ${ended.code} here: ${promise}`)
        report(tail(ended))
      }
      return broken
    },
    /** Compares the copy with the service's rows. */
    judge: async ({ promise }: Step, broken: readonly string[], { texts, brandIds }: Served) => {
      copied = await readCopy(STREAMS.map(({ name }) => name))
      // A copy that has the brands may keep the rows of others: a join with its brands leaves them out.
      const counts = ({ kind, line }: Difference) =>
        kind === 'structure' || !copied.has('brands') || brandIds.some((id) => line.includes(id))
      const differences = compare(STREAMS, texts, copied).filter(counts)
      const obstacle = isFailing ? 'Runs fail that can succeed.' : undefined
      judge(promise, [...broken, ...describe(newDifferences(differences, known))], { obstacle, requests })
      known = [...differences, ...known.filter((difference) => !counts(difference))]
    },
    /** Returns what the runs have shown. */
    verdicts: (): Verdict[] => {
      judge('Every run that can succeed ends with exit code 0.', failed)
      judge('No request is sent again before Retry-After allows it.', [...proxy.early].slice(0, SHOWN), {
        obstacle: proxy.hasRetried() ? undefined : 'No request was sent again.',
      })
      judge('The User-Agent is its own, and the same for all requests.', wrongUserAgents(proxy.agents), {
        obstacle: proxy.agents.size === 0 ? 'No request was sent.' : undefined,
      })
      judge('Columns have the types of the fields.', unexpectedTypes(STREAMS, copied), {
        obstacle: copied.size === 0 ? 'The copy has no table.' : undefined,
      })
      return verdicts
    },
    close: async () => {
      await proxy.close()
      if (folder === undefined) await rm(cwd, { recursive: true, force: true })
    },
  }
}

/** What a run broke, apart from the copy. */
function brokenBy(
  { most = Number.POSITIVE_INFINITY, stops }: Step,
  ended: Ended,
  requests: number,
): string[] {
  const broken: string[] = []
  if (requests > most) broken.push(`It sent ${requests} requests.`)
  if (stops !== undefined && ended.code === 0) broken.push('It ended with exit code 0.')
  if (stops !== undefined && !ended.output.includes(stops)) broken.push(`It did not print: ${stops}`)
  return broken
}

/** Says of each table what it lacks, how many rows differ, and one of them. */
function describe(differences: readonly Difference[]): string[] {
  return [...Map.groupBy(differences, ({ table }) => table)].flatMap(([table, own]) => {
    const structure = own.filter(({ kind }) => kind === 'structure').map(({ line }) => `${table}: ${line}`)
    const rows = ['missing', 'too many'].flatMap((what) => {
      const lines = own.filter(({ line }) => line.startsWith(`${what} {`)).map(({ line }) => line)
      const example = lines[0]?.slice(what.length + 1, SHOWN_LENGTH)
      return example === undefined ? [] : `${table}: ${lines.length} ${what}, such as ${example}`
    })
    return [...structure, ...rows]
  })
}

/** How User-Agents begin that libraries and programs send when a loader sets none. */
const DEFAULT =
  /^(python|aiohttp|curl\/|wget\/|go-http-client|node$|node-fetch|undici|axios\/|got |java|okhttp|apache-httpclient|ruby|guzzlehttp|duckdb\/|dlt\/)/i

/** Returns what is wrong with the User-Agents that a loader sent. */
function wrongUserAgents(agents: ReadonlySet<string>): string[] {
  if (agents.size > 1) return [`It sent ${agents.size}: ${[...agents].join(', ')}.`]
  return [...agents].flatMap((agent) => {
    if (agent === '') return ['It sent none.']
    return DEFAULT.test(agent) ? [`It sent ${agent}, the default of a library.`] : []
  })
}
