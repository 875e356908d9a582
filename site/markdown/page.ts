import { PLANS } from '../../lib/access/plans.ts'
import { BASE } from '../../lib/http/app.ts'
import { EXAMPLE_ORIGIN } from '../../lib/http/site.ts'
import { RATE_LIMIT } from '../../lib/limits/token-bucket.ts'
import { PAGE_SIZE } from '../../lib/rows/size.ts'
import { DEFAULT_DAYS } from '../../lib/statement/window.ts'
import { addressOf, USER_AGENT } from '../curl-sample.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import type { Reference } from '../reference/reference.ts'
import { compact, endpointSection } from './endpoint.ts'
import { block, code, prose, sections, table } from './syntax.ts'

const URL = EXAMPLE_ORIGIN + BASE

/** Sections of files of docs/ that a loader follows. */
const SYNC = ['## Keep an exact copy', '### Python', '## What loaders meet']
const SPECIFICATION = ['## Days', '### Causes', '### Digest', '## Files', '## Share', '## Versions']

/** The text of files of docs/. */
type Docs = { readonly sync: string; readonly specification: string }

/** The parameters of the first request, whose response the document has as an example. */
const FIRST = ['brandId', 'fromDate', 'toDate']

/** Writes the reference as Markdown, for readers who see nothing else. */
export function markdown(reference: Reference, { sync, specification }: Docs): string {
  const { title, version, summary, description, authentication, endpoints } = reference
  const [brands, metric] = endpoints
  const [start = '', , ...counts] = description.split('\n\n').map(prose)
  return `${[
    `# ${title} ${version}`,
    prose(summary),
    `Base URL: ${code(URL)}. As a setting, \`EXPORT_API_URL\` has no path: ${code(EXAMPLE_ORIGIN)}.`,
    `See also: [OpenAPI 3.1 document](${URL}/openapi.json), [reference page with request forms](${URL}/docs).`,
    '## Authentication',
    start,
    `${code(authentication.name)}: ${prose(authentication.description)}`,
    '## First request',
    'Name your program in `User-Agent`. Send the key as `Authorization: Bearer` as well: the key then has a rate limit of its own.',
    ...[brands, metric].flatMap((endpoint) => (endpoint === undefined ? [] : firstRequest(endpoint))),
    sections(specification, ['## Paging', '### Order of rows']),
    '## Counts and dates',
    ...counts,
    '## Parameters',
    'The service ignores unknown parameters, except names that mean one of these, such as `from`: they are 400.',
    parameters(endpoints),
    '## Limits',
    limits(),
    sections(specification, ['## Errors']),
    sections(sync, SYNC),
    sections(specification, SPECIFICATION),
    '## Endpoints',
    ...endpoints.map(endpointSection),
    '## Response headers',
    headers(reference),
  ].join('\n\n')}\n`
}

/** Writes a request with curl and the example of its response. */
function firstRequest(endpoint: Endpoint): string[] {
  const query = Object.fromEntries(
    endpoint.parameters.flatMap(({ name, example }) => (FIRST.includes(name) ? [[name, example]] : [])),
  )
  const address = addressOf({ origin: EXAMPLE_ORIGIN, endpoint, query })
  const command = `curl -sS '${address}' \\\n  -H "X-API-Key: $EXPORT_API_KEY" -H "Authorization: Bearer $EXPORT_API_KEY" -A '${USER_AGENT}'`
  return [block('sh', command), block('json', compact(endpoint.example))]
}

function parameters(endpoints: readonly Endpoint[]): string {
  const byName = new Map(
    endpoints.flatMap((endpoint) => endpoint.parameters).map((each) => [each.name, each]),
  )
  return table(
    ['Parameter', 'Type', 'Description'],
    [...byName.values()].map(({ name, type, description }) => [code(name), type, prose(description)]),
  )
}

function limits(): string {
  const list = Object.entries(LIMITS).map(([name, limit]) => `- ${name}: ${prose(limit)}`)
  const plans = Object.entries(PLANS).map(([plan, { lookbackDays, keys }]) => [
    plan,
    history(lookbackDays),
    String(keys),
  ])
  return `${list.join('\n')}\n\n${table(['Plan', 'History', 'API keys'], plans)}`
}

const headers = ({ headers }: Reference): string =>
  table(
    ['Header', 'Description'],
    headers.map(({ name, description }) => [code(name), prose(description)]),
  )

/** The limits of the service, from the constants that enforce them. */
const LIMITS: Readonly<Record<string, string>> = {
  'Rate limit': `${RATE_LIMIT.requests} requests, refilled by ${RATE_LIMIT.refill.requests} every ${RATE_LIMIT.refill.seconds} seconds, across all endpoints. The limit applies to each session cookie or \`Authorization\` header. A client that sends only its key is identified by its IP address and \`User-Agent\` together: the key does not count.`,
  'Page size': `up to ${PAGE_SIZE} rows`,
  'Default window of a metric': `from ${DEFAULT_DAYS} days before today until now`,
}

function history(days: number | null): string {
  if (days === null) return 'full history'
  return days === 0 ? 'no access' : `${days} days`
}
