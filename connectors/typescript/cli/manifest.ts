import { CommandError } from './errors.ts'
import { uniqueId } from './paths.ts'
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
  /** What the previous commit replaced, for queries that still read it. The next one removes it. */
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
  /** Where this run stores states. */
  readonly folder: string
}

/** Reads the latest commit of a copy. Throws `CommandError` when the manifest is damaged. */
export async function readBase(store: Store): Promise<Base> {
  const stored = await store.readText(MANIFEST)
  const manifest = stored === undefined ? NO_MANIFEST : parse(stored.text, store)
  const listed = await store.list()
  const runs = `_state/${manifest.id}/`
  const started = new Map<string, string>()
  let number = 1
  for (const path of [...listed.keys()].filter((key) => key.startsWith(runs)).sort()) {
    const [run = '', file = ''] = path.slice(runs.length).split('/')
    started.set(file.replace('.json', ''), path)
    number = Number.parseInt(run, 10) + 1
  }
  const folder = `${runs}${String(number).padStart(6, '0')}-${uniqueId()}/`
  return { store, manifest, version: stored?.version, listed, started, folder }
}

/** Returns the path of the state with which a sync of a brand goes on. */
export const latestState = ({ manifest, started }: Base, brandId: string): string | undefined =>
  started.get(brandId) ?? manifest.unfinished[brandId] ?? manifest.states[brandId]

function parse(text: string, { location }: Store): Manifest {
  try {
    const manifest = JSON.parse(text)
    const { id, files, brands, states, unfinished, replaced } = manifest
    if (typeof id !== 'string' || typeof brands !== 'object' || !Array.isArray(replaced))
      throw new TypeError()
    Object.keys({ ...files, ...states, ...unfinished })
    return { ...NO_MANIFEST, ...manifest }
  } catch (cause) {
    const path = `${location}/${MANIFEST}`
    throw new CommandError(`${path} is damaged. Delete it: the next sync fetches all files again.`, { cause })
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
