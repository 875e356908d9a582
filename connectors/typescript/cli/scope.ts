import type { Brand } from '../src/index.ts'
import { UsageError } from './errors.ts'
import { listOf } from './text.ts'

/** What a copy is of. A sync can widen it, but not narrow it: so all rows of the tables are kept equal. */
export type Scope = {
  readonly fromDate: string
  readonly toDate: string
  /** Null: all, also those of later versions. */
  readonly endpoints: readonly string[] | null
  /** Ids. Null: all brands that the key reads, also new ones. */
  readonly brandIds: readonly string[] | null
}

export const WHOLE: Scope = { fromDate: '0001-01-01', toDate: '9999-12-31', endpoints: null, brandIds: null }

/** The parts that a sync was asked for. Others stay as they are. */
export type Asked = {
  readonly fromDate?: string | undefined
  readonly toDate?: string | undefined
  readonly endpoints?: readonly string[] | undefined
  /** Ids or names of brands. */
  readonly wanted?: readonly string[] | undefined
}

/** Returns the scope of a copy with what is asked for. Throws `UsageError` when a copy that is not new would lose a part. */
export function widen(
  { fromDate, toDate, endpoints, brandIds }: Scope,
  asked: Asked,
  { listed, isNew, location }: { listed: readonly Brand[]; isNew: boolean; location: string },
): Scope {
  const wanted = asked.wanted && selectBrands(listed, asked.wanted).map(({ id }) => id)
  const scope = {
    fromDate: asked.fromDate ?? fromDate,
    toDate: asked.toDate ?? toDate,
    endpoints: asked.endpoints?.toSorted() ?? endpoints,
    brandIds: wanted?.toSorted() ?? brandIds,
  }
  const hasDays = scope.fromDate <= fromDate && scope.toDate >= toDate
  const isWider = hasDays && hasAll(scope.endpoints, endpoints) && hasAll(scope.brandIds, brandIds)
  if (isNew || isWider) return scope
  const tables = endpoints?.join(', ') ?? 'all endpoints'
  const brands = brandIds === null ? 'all brands' : `the brands ${listOf(brandIds, MOST_LISTED)}`
  throw new UsageError(
    `${location} has the days from ${fromDate} to ${toDate} of ${tables} and of ${brands}. A sync can add to that, but leave out nothing: leave out the options to continue it, or use another folder for less. To draw some brands, use export-api report --brand.`,
  )
}

const hasAll = (wide: readonly string[] | null, narrow: readonly string[] | null): boolean =>
  wide === null || (narrow?.every((name) => wide.includes(name)) ?? false)

/**
 * Returns the brands with these ids or names. Throws `UsageError` for one that is not listed, and for a name of several
 * brands.
 */
export function selectBrands<Named extends Pick<Brand, 'id' | 'name' | 'displayName'>>(
  listed: readonly Named[],
  wanted: readonly string[],
): readonly Named[] {
  const found = wanted.map((text) => findBrand(listed, text.toLowerCase(), text))
  return listed.filter((brand) => found.includes(brand))
}

function findBrand<Named extends Pick<Brand, 'id' | 'name' | 'displayName'>>(
  listed: readonly Named[],
  lower: string,
  text: string,
): Named {
  const hasName = ({ name, displayName }: Named) =>
    [name, displayName].some((each) => each.toLowerCase() === lower)
  const byId = listed.filter(({ id }) => id === lower)
  const found = byId.length > 0 ? byId : listed.filter(hasName)
  const [brand] = found
  if (brand !== undefined && found.length === 1) return brand
  const choice = brand === undefined ? listed : found
  const names = choice.map(({ id, name }) => `${name} (${id})`)
  throw new UsageError(
    brand === undefined
      ? `No brand has the id or name ${text}. Choose from ${listOf(names, MOST_LISTED) || 'none'}.`
      : `${found.length} brands have the name ${text}. Use an id: ${listOf(names, MOST_LISTED)}.`,
  )
}

const MOST_LISTED = 20
