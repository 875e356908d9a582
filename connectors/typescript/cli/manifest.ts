import { CommandError, UsageError } from './errors.ts'
import { isMonth, isOwn, uniqueId } from './paths.ts'
import type { FileState, Store, Stored } from './store.ts'
import { BRANDS, METRICS } from './streams.ts'

export const MANIFEST = 'manifest.json'

/** What a copy contains. A commit replaces it, so that readers see all files of a sync or none. */
export type Manifest = {
  /** Different in each commit. */
  readonly id: string
  /** The paths of the files, by endpoint. */
  readonly files: Readonly<Record<string, readonly string[]>>
  readonly brands: FileState | null
  /** The paths of the brands' states, by brand: where the files stand. */
  readonly states: Readonly<Record<string, string>>
  /** The paths of states of brands that failed: where their next sync goes on. */
  readonly unfinished: Readonly<Record<string, string>>
  /** What the previous commit replaced, for readers that have begun. The next one removes it. */
  readonly replaced: readonly string[]
}

const NO_MANIFEST: Manifest = {
  id: 'none',
  files: {},
  brands: null,
  states: {},
  unfinished: {},
  replaced: [],
}

/** A commit, and what a run builds on it. */
export type Base = {
  readonly store: Store
  readonly manifest: Manifest
  /** Undefined when there is no manifest. */
  readonly version: string | undefined
  readonly listed: ReadonlyMap<string, Stored>
  /** The paths of the latest states that runs stored since, by brand. They were killed, or run at the same time. */
  readonly started: ReadonlyMap<string, string>
  /** Begins the paths of the states that this run stores. */
  readonly ownStates: string
}

const ADVICE =
  'Restore it. Or delete the whole copy: the next sync then fetches what the plan reaches, and older days are lost.'

/**
 * Reads the latest commit of a copy. Throws `CommandError` when the manifest is damaged or lost, and `UsageError` when
 * only files of others are there.
 */
export async function readBase(store: Store, isSecond = false): Promise<Base> {
  const stored = await store.readText(MANIFEST)
  const listed = await store.list()
  const hasOwn = [...listed.keys()].some(isOwn)
  const [foreign] = listed.keys()
  if (stored === undefined && !hasOwn && foreign !== undefined) throw noCopy(store, foreign)
  const manifest = stored === undefined ? NO_MANIFEST : parse(stored.text, store, hasOwn)
  const runs = `_state/${manifest.id}/`
  const started = new Map<string, string>()
  let number = 1
  for (const path of [...listed.keys()].filter((key) => key.startsWith(runs)).sort()) {
    const [run = '', file = ''] = path.slice(runs.length).split('/')
    started.set(file.replace('.json', ''), path)
    number = Number.parseInt(run, 10) + 1
  }
  // Before its first files, a first sync stores the states of its brands.
  const isLater = (path: string) =>
    (isMonth(path) && started.size === 0) || (path.startsWith('_state/') && !path.startsWith(runs))
  if (stored === undefined && [...listed.keys()].some(isLater)) {
    // Unless another first sync has stored its states, or ended, meanwhile.
    if (!isSecond) return readBase(store, true)
    throw new CommandError(`${store.location}/${MANIFEST} is missing. ${ADVICE}`)
  }
  const ownStates = `${runs}${String(number).padStart(6, '0')}-${uniqueId()}/`
  return { store, manifest, version: stored?.version, listed, started, ownStates }
}

/** Returns the path of the state with which a sync of a brand goes on. */
export const latestState = ({ manifest, started }: Base, brandId: string): string | undefined =>
  started.get(brandId) ?? manifest.unfinished[brandId] ?? manifest.states[brandId]

/** Says that files are not those of a copy: nothing of others may be overwritten or deleted. */
const noCopy = ({ location }: Store, path: string): UsageError =>
  new UsageError(`${location} has no copy, but ${path} of something else. Use a new folder or prefix.`)

function parse(text: string, store: Store, hasOwn: boolean): Manifest {
  try {
    const manifest = JSON.parse(text)
    const { id, files, brands, states, unfinished, replaced } = manifest
    const paths = [
      id,
      brands.path,
      replaced,
      Object.values(files),
      Object.values(states),
      Object.values(unfinished),
    ]
    if (!paths.flat(2).every((path) => typeof path === 'string')) throw new TypeError()
    return manifest
  } catch (cause) {
    if (!hasOwn) throw noCopy(store, MANIFEST)
    throw new CommandError(`${store.location}/${MANIFEST} is damaged. ${ADVICE}`, { cause })
  }
}

/** Groups the paths of files by their endpoints. */
export const filesByEndpoint = (paths: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    [BRANDS, ...METRICS].map(({ endpoint }) => [
      endpoint,
      paths.filter((path) => path.startsWith(`endpoint=${endpoint}/`)).sort(),
    ]),
  )
