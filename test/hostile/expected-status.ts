import { BASE } from '../../lib/http/app.ts'
import type { Endpoint } from '../fixtures/endpoints.ts'
import type { RawRequest } from './raw-http.ts'

/** What a caller of the tests may do: the keys that live, those without a plan, and the brands that the former read. */
export type Rights = {
  readonly keys: ReadonlySet<string>
  readonly withoutPlan: ReadonlySet<string>
  readonly brands: ReadonlySet<string>
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The status that the contract (section 1) gives a request, the rate budget aside and no cursor being genuine. */
export function expectedStatus(
  { method = 'GET', target, fields = [] }: RawRequest,
  endpoints: readonly Pick<Endpoint, 'path' | 'kind'>[],
  { keys, withoutPlan, brands }: Rights,
): number {
  const { pathname, searchParams } = new URL(`http://service${Buffer.from(target, 'latin1')}`)
  const endpoint = endpoints.find(({ path }) => pathname === BASE + path)
  const isDescription = pathname === `${BASE}/openapi.json`
  if (endpoint === undefined && !isDescription) return 404
  if (method !== 'GET' && method !== 'HEAD') return 405
  if (endpoint === undefined) return 200
  const key = fields
    .filter(([name]) => name.toLowerCase() === 'x-api-key')
    .map(([, value]) => value.replace(/^[ \t]+|[ \t]+$/g, ''))
    .join(', ')
  if (withoutPlan.has(key)) return 403
  if (!keys.has(key)) return 401
  if (!hasKnownFormat(searchParams) || hasMisnamed(searchParams, endpoint.kind)) return 400
  if (endpoint.kind === 'brands') return 200
  if (!areWellFormed(searchParams, endpoint.kind)) return 400
  const brandId = searchParams.get('brandId')
  return brandId === null || brands.has(brandId.toLowerCase()) ? 200 : 404
}

const OTHERS = 'from start startDate start_date to end endDate end_date page offset'.split(' ')

/** Whether a name means one of the endpoint's parameters. */
function hasMisnamed(query: URLSearchParams, kind: Endpoint['kind']): boolean {
  const names = kind === 'brands' ? ['format'] : ['brandId', 'fromDate', 'toDate', 'cursor', 'format']
  if (kind === 'changes') names.push('since')
  const loose = (name: string) => name.replace(/[-_]/g, '').toLowerCase()
  return [...query.keys()].some(
    (name) =>
      !names.includes(name) &&
      (names.map(loose).includes(loose(name)) || (kind !== 'brands' && OTHERS.includes(name))),
  )
}

function hasKnownFormat(query: URLSearchParams): boolean {
  const [format = 'json', ...others] = query.getAll('format')
  if (others.length > 0 || !['json', 'csv', 'ndjson'].includes(format)) return false
  return format === 'json' || query.getAll('cursor').every((cursor) => cursor === '')
}

function areWellFormed(query: URLSearchParams, kind: Endpoint['kind']): boolean {
  const [brand, from, to, cursor] = ['brandId', 'fromDate', 'toDate', 'cursor'].map((name) =>
    query.getAll(name),
  )
  const isComplete = brand?.length === 1 || (kind === 'changes' && brand?.length === 0)
  if (!isComplete || !(brand ?? []).every((id) => UUID.test(id))) return false
  // An empty cursor counts as none.
  if ((cursor?.length ?? 0) > 1 || cursor?.[0]) return false
  const since = kind === 'changes' ? query.getAll('since') : []
  if (since.length > 1 || !since.every(isInstant)) return false
  const dates = [from, to].map((given) => given?.map(dayNumber) ?? [])
  if (dates.some((given) => given.length > 1 || given.includes(null))) return false
  const [first, last] = dates.map(([given]) => given ?? null)
  return last == null || (first ?? (kind === 'changes' ? 0 : defaultStart())) <= last
}

/** Whether a text is an instant with up to six decimals. */
const isInstant = (text: string): boolean =>
  /^.{10}T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/.test(
    text,
  ) && dayNumber(text.slice(0, 10)) !== null

/** The UTC day 30 days ago. */
const defaultStart = (): number =>
  dayNumber(new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)) ?? 0

/** A calendar day as a number that grows with it; null for anything else. */
function dayNumber(text: string): number | null {
  const [, year = 0, month = 0, day = 0] = (/^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? []).map(Number)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return year >= 1 && day >= 1 && day <= days ? (year * 100 + month) * 100 + day : null
}
