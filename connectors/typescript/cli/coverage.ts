import { isDeepStrictEqual } from 'node:util'
import type { Brand } from '../src/index.ts'
import type { BrandRun } from './changes.ts'
import type { Copy } from './copy.ts'
import type { AddFile } from './delta/log.ts'
import { daysOf, statisticsOf } from './files.ts'
import { sha256 } from './hash.ts'
import { type Asked, type Scope, WHOLE, widen } from './scope.ts'
import { METRICS } from './streams.ts'

/**
 * What a copy is known to have: of each of its brands, all rows of the scope, with all changes up to `since`. A tag of the
 * file of the brands stores it (README.md, How a sync commits).
 */
export type Coverage = {
  readonly scope: Scope
  /** The greatest `changed_at` up to which the service was read; null before any. */
  readonly since: string | null
  /** The first day that the plan reached. */
  readonly fromDate: string
  readonly brandIds: readonly string[]
  /**
   * Files that were removed, and the first day of each of their brands. They stay until a sync that reads all brands has
   * said what the key does not reach of them.
   */
  readonly removed: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The versions of the tables. With others, it does not hold: a sync that was killed, or another one, has committed. */
  readonly versions: string
}

/** Returns undefined before the first sync, and for a coverage that is older than the tables: they have days outside of its scope. */
export function coverageOf(copy: Copy): Coverage | undefined {
  const [file] = copy.brands.snapshot.files.values()
  if (file?.tags?.coverage === undefined) return undefined
  const coverage: Coverage = JSON.parse(file.tags.coverage)
  return isWithin(copy, coverage.scope) ? coverage : undefined
}

function isWithin({ metrics }: Copy, { fromDate, toDate, endpoints, brandIds }: Scope): boolean {
  const hasDays = (file: AddFile) => {
    const { first, last } = statisticsOf(file)
    return first >= fromDate && last <= toDate
  }
  const hasBrands = (file: AddFile) => Object.keys(daysOf(file)).every((id) => brandIds?.includes(id) ?? true)
  return [...metrics].every(([endpoint, { snapshot }]) =>
    [...snapshot.files.values()].every(
      (file) => (endpoints?.includes(endpoint) ?? true) && hasDays(file) && hasBrands(file),
    ),
  )
}

export const endpointsOf = ({ endpoints }: Scope): readonly string[] =>
  endpoints ?? METRICS.map(({ endpoint }) => endpoint)

/** Returns what a copy is of after a sync. Throws `UsageError` when that leaves out a part of what it has. */
export function scopeOf(copy: Copy, listed: readonly Brand[], asked: Asked): Scope {
  const coverage = coverageOf(copy)
  const hasRows = [...copy.metrics.values()].some(({ snapshot }) => snapshot.files.size > 0)
  // Where the coverage is lost, all rows that are there have to be kept equal.
  const isNew = coverage === undefined && !hasRows
  return widen(coverage?.scope ?? WHOLE, asked, { listed, isNew, location: copy.store.location })
}

/** Returns the versions of the tables of a scope with their files. The number alone comes again when a folder is restored. */
export function versionsOf({ metrics }: Copy, scope: Scope): string {
  const versions = endpointsOf(scope).map((endpoint) => {
    const { version = -1, files = new Map<string, unknown>() } = metrics.get(endpoint)?.snapshot ?? {}
    return [endpoint, version, ...[...files.keys()].sort()]
  })
  return sha256(JSON.stringify(versions))
}

type Scoped = { readonly copy: Copy; readonly scope: Scope; readonly isFull?: boolean | undefined }

/** Returns where a sync of each brand of a scope begins: at the stored `since`, if the copy has all before it. */
export function startsOf({ copy, scope, isFull = false }: Scoped, listed: readonly Brand[]): BrandRun[] {
  const coverage = coverageOf(copy)
  const isStored = isDeepStrictEqual(coverage?.scope, scope) && coverage?.versions === versionsOf(copy, scope)
  return listed
    .filter(({ id }) => scope.brandIds?.includes(id) ?? true)
    .map(({ id, name }) => {
      const isCovered = !isFull && isStored && coverage.brandIds.includes(id)
      return {
        id,
        name,
        since: isCovered ? coverage.since : null,
        fromDate: isCovered ? coverage.fromDate : '',
      }
    })
}

type Reached = Pick<Coverage, 'scope' | 'removed'> & {
  /** Up to where the brands that did not fail were read. The others are listed again as new ones. */
  readonly reached: readonly BrandRun[]
}

/** Returns the coverage after a sync. */
export function nextCoverage(copy: Copy, { scope, reached, removed }: Reached): Coverage {
  const brandIds = reached.map(({ id }) => id).sort()
  const since = reached.map(({ since }) => since ?? '').sort()[0] || null
  const fromDate = reached.reduce((latest, { fromDate }) => (fromDate > latest ? fromDate : latest), '')
  return { scope, since, fromDate, brandIds, removed, versions: versionsOf(copy, scope) }
}
