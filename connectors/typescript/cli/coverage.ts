import type { Start } from './changes.ts'
import type { Copy } from './copy.ts'
import { sha256 } from './hash.ts'
import { METRICS } from './streams.ts'

/**
 * What a copy is known to have: of each of its brands and endpoints, the rows of every day from `fromDate` to `toDate`,
 * with all changes up to `since`. A tag of the file of the brands stores it: see docs/architecture.md.
 */
export type Coverage = {
  /** The greatest `changed_at` up to which the service was read. */
  readonly since: string
  readonly fromDate: string
  readonly toDate: string
  readonly brandIds: readonly string[]
  /** Brands that it had until the key did not read them any more. */
  readonly goneIds: readonly string[]
  /** The versions of the tables, by endpoint; empty of a table that is not covered. */
  readonly versions: Readonly<Record<string, string>>
}

/** With it, all days are listed. */
const FIRST_SINCE = '1970-01-01T00:00:00.000000Z'

const LAST_DAY = '9999-12-31'

/**
 * Returns a version of a table and its files, as a hash; empty when there is no table. The number alone comes again when a
 * folder is deleted or restored.
 */
function versionOf({ metrics }: Copy, endpoint: string): string {
  const { version = -1, files = new Map<string, unknown>() } = metrics.get(endpoint)?.snapshot ?? {}
  return version < 0 ? '' : sha256([version, ...[...files.keys()].sort()].join())
}

/**
 * Returns undefined before the end of the first sync. A table with another version than the stored one is not covered: a
 * sync that was killed, or that ran at the same time, has committed it.
 */
export function coverageOf(copy: Copy): Coverage | undefined {
  const [file] = copy.brands.snapshot.files.values()
  if (file?.tags?.coverage === undefined) return undefined
  const stored: Coverage = JSON.parse(file.tags.coverage)
  const versions = Object.entries(stored.versions).map(([endpoint, version]) => [
    endpoint,
    version === versionOf(copy, endpoint) ? version : '',
  ])
  return { ...stored, versions: Object.fromEntries(versions) }
}

/** What a sync was asked for: all endpoints and days that it does not bound. */
export type Scope = {
  readonly endpoints?: readonly string[] | undefined
  readonly fromDate?: string | undefined
  readonly toDate?: string | undefined
}

export const endpointsOf = ({ endpoints }: Scope): readonly string[] =>
  endpoints ?? METRICS.map(({ endpoint }) => endpoint)

/** Returns where a sync of a brand begins: at the stored `since`, if the copy has all before it that is asked for. */
export function startOf(coverage: Coverage | undefined, brandId: string, scope: Scope): Start {
  const nowhere = { since: null, fromDate: '' }
  if (coverage === undefined || coverage.since === FIRST_SINCE) return nowhere
  const hasAll =
    coverage.brandIds.includes(brandId) &&
    (scope.toDate ?? LAST_DAY) <= coverage.toDate &&
    endpointsOf(scope).every((endpoint) => coverage.versions[endpoint])
  return hasAll ? coverage : nowhere
}

type Reached = {
  /** Up to where the brands that did not fail were read. */
  readonly reached: readonly (Start & { readonly id: string })[]
  readonly failed: readonly string[]
  /** The brands that the key reads. */
  readonly listed: readonly string[]
}

/**
 * Returns the coverage after a sync. A narrower sync than those before keeps `since`: the next one lists its changes again,
 * and fetches none that the copy has.
 */
export function nextCoverage(
  copy: Copy,
  before: Coverage | undefined,
  { toDate = LAST_DAY, ...scope }: Scope,
  { reached, failed, listed }: Reached,
): Coverage {
  const brandIds = reached.map(({ id }) => id).sort()
  const [since = FIRST_SINCE] = reached.map(({ since }) => since ?? FIRST_SINCE).sort()
  const fromDate = reached.reduce((latest, { fromDate }) => (fromDate > latest ? fromDate : latest), '')
  const once = [...(before?.brandIds ?? []), ...(before?.goneIds ?? [])]
  const goneIds = once.filter((id) => !listed.includes(id)).sort()
  const versions = Object.fromEntries(endpointsOf(scope).map((name) => [name, versionOf(copy, name)]))
  const own = { since, fromDate, toDate, brandIds, goneIds, versions }
  if (!before?.brandIds.some((id) => listed.includes(id))) return own
  const stored = Object.entries(before.versions)
  const current = stored.map(([name, version]) => [name, version && versionOf(copy, name)])
  const kept = { ...before, versions: Object.fromEntries(current) }
  const isNarrower = (scope.fromDate ?? '') > before.fromDate || toDate < before.toDate
  if (isNarrower || stored.some(([name]) => versions[name] === undefined)) return kept
  const others = before.brandIds.filter(
    (id) => listed.includes(id) && !failed.includes(id) && !brandIds.includes(id),
  )
  if (others.length === 0) return own
  const latest = fromDate > before.fromDate ? fromDate : before.fromDate
  return { ...kept, fromDate: latest, brandIds: [...others, ...brandIds].sort() }
}
