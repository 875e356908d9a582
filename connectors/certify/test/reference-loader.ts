import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BASE } from '../../../lib/http/app.ts'
import { digestOf } from '../../../site/reference/digest.ts'
import { readStreams, type Stream } from '../../../site/reference/streams.ts'
import type { Environment, Loader } from '../command.ts'

/** What a loader can do wrong. */
export type Mistake =
  | 'loads nothing'
  | 'loads the first page only'
  | 'never deletes'
  | 'loads everything each time'
  | 'loads once'
  | 'stores since first'
  | 'deletes what the plan does not reach'
  | 'ignores a plan that reaches further back'
  | 'ignores a window that moves'
  | 'compares no digest'
  | 'compares no digest of brands'
  | 'lists no brand alone'
  | 'retries at once'
  | 'does not retry'
  | 'hides errors'
  | 'has no User-Agent of its own'

type Row = Readonly<Record<string, unknown>>
type Page = {
  readonly data: readonly Row[]
  readonly pagination?: Pagination
  readonly meta: Row
  readonly error?: string
  /** The header `X-Brands-Digest`. */
  readonly brandsDigest?: string | null
}
type Pagination = { readonly nextCursor: string | null }

class Stopped extends Error {}

const STREAMS = readStreams()
const METRICS = STREAMS.filter(({ kind }) => kind === 'metric')

/** Requests a page. Throws for other responses. */
export type Get = (path: string, query: Row) => Promise<Page>

/** An empty copy of all tables, and the loop of docs/sync.md, with some mistakes, which makes it equal what is served. */
export function createCopy(mistakes: readonly Mistake[] = []) {
  const makes = (mistake: Mistake): boolean => mistakes.includes(mistake)
  const tables = new Map(STREAMS.map(({ name }) => [name, new Map<string, Row>()]))
  let stored: { since: string; fromDate: string; brandIds: readonly string[] } | undefined

  async function pull(get: Get, path: string, query: Row) {
    const rows: Row[] = []
    const digests = new Set<unknown>()
    for (let cursor: string | null = null; ; ) {
      const { data, pagination, meta, brandsDigest } = await get(path, { ...query, cursor })
      rows.push(...data)
      digests.add(brandsDigest)
      const fromDate = String(meta?.fromDate).slice(0, 10)
      cursor = pagination?.nextCursor ?? null
      if (cursor === null || makes('loads the first page only'))
        return { rows, fromDate, digest: digests.size === 1 ? [...digests][0] : undefined }
    }
  }

  function store({ name, key, columns }: Stream, rows: readonly Row[]) {
    for (const row of rows) {
      const fields = columns.map((column) => [column.name, row[column.field]])
      const renamed = Object.fromEntries(fields)
      const id = JSON.stringify(key.map((column) => renamed[column]))
      tables.get(name)?.set(id, renamed)
    }
  }

  /** Replaces the listed days of a brand. Returns false when one is not as it was listed. */
  async function replaceDays(source: Source, brandId: string, rows: readonly Row[]) {
    const deletesMore = makes('deletes what the plan does not reach')
    for (const stream of METRICS) {
      const listed = rows.filter(({ endpoint }) => endpoint === stream.endpoint)
      const days = listed.map(({ date }) => String(date)).sort()
      const [first, toDate] = [days[0], days.at(-1)]
      if (first === undefined || toDate === undefined) continue
      const fromDate = deletesMore ? source.startDate : first
      const fetched = await pull(source.get, stream.endpoint, { brandId, fromDate, toDate })
      if (fetched.fromDate > fromDate && !deletesMore && !makes('ignores a window that moves')) return false
      const sent = stream.columns.slice(1)
      const isAltered = listed.some(
        ({ date, digest }) =>
          digest !==
          digestOf(
            fetched.rows.filter((row) => row.date === date),
            sent,
          ),
      )
      if (isAltered && !makes('compares no digest')) return false
      const isReplaced = ({ date }: Row) =>
        days.includes(String(date)) || (deletesMore && String(date) <= toDate)
      const table = tables.get(stream.name) ?? new Map<string, Row>()
      for (const [id, row] of table) {
        if (row.brand_id === brandId && isReplaced(row) && !makes('never deletes')) table.delete(id)
      }
      store(
        stream,
        fetched.rows.filter(isReplaced).map((row) => ({ ...row, brand_id: brandId })),
      )
    }
    return true
  }

  async function listBrands(get: Get) {
    const { rows, digest } = await pull(get, 'brands', {})
    for (const stream of STREAMS) if (stream.kind === 'brands') store(stream, rows)
    return { brandIds: rows.map(({ id }) => String(id)), digest }
  }

  async function sync(source: Source): Promise<void> {
    const { get, startDate: fromDate } = source
    let { brandIds, digest } = await listBrands(get)
    for (let attempts = 10; attempts > 0; attempts -= 1) {
      const last = makes('loads everything each time') ? undefined : stored
      const listed = await pull(get, 'changes', { fromDate, since: last?.since })
      if (last && listed.fromDate < last.fromDate && !makes('ignores a plan that reaches further back')) {
        stored = undefined
        continue
      }
      if (listed.digest !== digest && !makes('compares no digest of brands')) {
        ;({ brandIds, digest } = await listBrands(get))
        continue
      }
      const since = String(listed.rows.at(-1)?.changed_at ?? last?.since)
      const state = { since, fromDate: listed.fromDate, brandIds }
      for (const brandId of brandIds) {
        if (last === undefined || last.brandIds.includes(brandId) || makes('lists no brand alone')) continue
        listed.rows.push(...(await pull(get, 'changes', { brandId, fromDate })).rows)
      }
      if (listed.rows.length === 0 || (last && makes('loads once'))) {
        if (last) stored = { ...last, brandIds }
        return
      }
      if (makes('stores since first')) stored = state
      const replaced: boolean[] = []
      for (const brandId of brandIds) {
        const rows = listed.rows.filter(({ brand_id }) => brand_id === brandId)
        replaced.push(await replaceDays(source, brandId, rows))
      }
      if (replaced.includes(false)) continue
      stored = state
      if (makes('loads everything each time')) return
    }
    throw new Stopped('Days are not as they were listed.')
  }

  return { tables, sync }
}

/** What a loop reads, and the first day to load. */
type Source = { readonly get: Get; readonly startDate: string }

/** Reads from the service of an environment, and retries. */
function getFrom({ EXPORT_API_URL, EXPORT_API_KEY }: Environment, mistakes: readonly Mistake[]): Get {
  const makes = (mistake: Mistake): boolean => mistakes.includes(mistake)
  const agent = makes('has no User-Agent of its own') ? {} : { 'User-Agent': 'reference-loader/1.0' }
  const headers = { 'X-API-Key': EXPORT_API_KEY, ...agent }
  return async (path, query) => {
    const present = Object.entries(query).flatMap(([name, value]) => (value ? [[name, String(value)]] : []))
    const url = `${EXPORT_API_URL}${BASE}/${path}?${new URLSearchParams(present)}`
    for (let retries = 0; ; retries += 1) {
      const { answer, page, problem } = await fetch(url, { headers })
        .then(async (answer) => ({ answer, page: await answer.json(), problem: '' }))
        .catch((error: unknown) => ({ answer: undefined, page: undefined, problem: String(error) }))
      if (answer?.ok && page.data) return { ...page, brandsDigest: answer.headers.get('X-Brands-Digest') }
      const isLater = !answer || answer.ok || answer.status === 429 || answer.status >= 500
      if (!isLater || retries === 9 || (answer && makes('does not retry')))
        throw new Stopped(page?.error ?? problem)
      const wait = answer?.status === 429 ? 12 : Math.min(2 ** retries, 12)
      if (!makes('retries at once')) await sleep(Number(answer?.headers.get('Retry-After') ?? wait) * 1000)
    }
  }
}

/** Creates a loader that writes its copy to `<table>.jsonl` in a folder, with some mistakes. */
export function referenceLoader(folder: string, mistakes: readonly Mistake[]): Loader {
  const { tables, sync } = createCopy(mistakes)

  async function write(): Promise<void> {
    await mkdir(folder, { recursive: true })
    for (const [name, rows] of tables) {
      if (name === 'changes') continue
      const lines = [...rows.values()].map((row) => `${JSON.stringify(row)}\n`)
      await writeFile(join(folder, `${name}.jsonl`), lines.join(''))
    }
  }

  return async (environment) => {
    if (mistakes.includes('loads nothing')) return { code: 0, output: '' }
    try {
      await sync({ get: getFrom(environment, mistakes), startDate: environment.EXPORT_API_START_DATE })
      return { code: 0, output: '' }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      return mistakes.includes('hides errors') ? { code: 0, output: '' } : { code: 1, output: error.message }
    } finally {
      await write()
    }
  }
}
