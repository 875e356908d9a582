import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { figuresOf } from '../../connectors/definition/formulas.ts'
import { readStreams } from '../../connectors/definition/streams.ts'
import { compileFormula } from '../../site/compile-formula.ts'
import { call, pull } from '../support/call.ts'
import { chartLines, figuresOf as lineFigures } from '../support/chart-lines.ts'
import { fillDaily } from '../support/daily.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

// Sends the requests of connectors/grafana, and applies its transformations to the rows as Grafana documents them.
// `npm run check` compares the dashboard with the types of Grafana's SDK (connectors/definition/grafana.ts).

const db = database()
const METRICS = readStreams().filter(({ kind }) => kind === 'metric')
const read = (file: string) => readFile(new URL(`../../connectors/grafana/${file}`, import.meta.url), 'utf8')
const datasource = await read('datasource.yml')
const dashboard: Dashboard = JSON.parse(await read('dashboard.json'))

const PER_ENTITY = METRICS.flatMap(({ endpoint, formula }) => (formula?.per ? endpoint : []))
const FROM = '2026-10-02'
const TO = '2026-10-04'

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  for (const { endpoint, key } of METRICS) {
    const rows = PER_ENTITY.includes(endpoint) ? 15 : key.length > 2 ? 40 : 5
    await fillDaily(db, { name: endpoint, brandId: its.brandId, rows, first: '2026-10-01', days: 5 })
  }
  // Three competitors and entities have a row each day, and each sum differs from the others.
  for (const change of [
    `competitors set competitor_name = 'c' || (total_responses - 1) / 5, total_responses = 2 * total_responses`,
    // A competitor has the brand's name.
    `recommended_rate set entity_name = 'e' || (judged_answers - 1) / 5 % 2, is_competitor = judged_answers <= 10,
       is_brand = judged_answers > 10,
       recommended_rate = 100.0 / judged_answers`,
    `visibility set total_prompts = 2 * total_prompts + 1`,
    `citation_share set citations = 3 * citations + 2`,
    `sentiment set negative_weight = positive_mentions`,
  ])
    await db.query(`update daily.${change} where brand_id = $1`, [its.brandId])
})

type Row = Readonly<Record<string, string | number>>

/** A query of the Infinity data source, or of another panel's result. */
type Target = {
  readonly panelId?: number
  readonly url?: string
  readonly columns?: readonly { readonly selector: string; readonly text: string; readonly type: string }[]
}

type Transformation = {
  readonly id: string
  readonly options: {
    readonly alias?: string
    readonly binary?: { readonly left: string; readonly operator: string; readonly right: string }
    readonly unary?: { readonly operator: string; readonly fieldName: string }
    readonly fields?: Readonly<
      Record<string, { readonly operation: string; readonly aggregations: readonly string[] }>
    >
    readonly include?: { readonly names: readonly string[] }
    readonly renameByName?: Readonly<Record<string, string>>
  }
}

type Panel = {
  readonly id: number
  readonly title: string
  readonly datasource: { readonly uid: string }
  readonly targets: readonly Target[]
  readonly transformations: readonly Transformation[]
}

type Dashboard = {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly query: { readonly infinityQuery: Target } }[] }
}

/** Sends a query with the headers of datasource.yml, after the macros were replaced. */
async function send({ url = '', columns = [] }: Target): Promise<Row[]> {
  const path = url
    .replace(/\$\{brand\}/, its.brandId)
    .replace(/\$\{__timeFrom:date:YYYY-MM-DD\}/, FROM)
    .replace(/\$\{__timeTo:date:YYYY-MM-DD\}/, TO)
  expect(path).not.toContain('$')
  const [, header = ''] = /apiKeyKey: (.+)/.exec(datasource) ?? []
  const [, agent = ''] = /httpHeaderValue1: (.+)/.exec(datasource) ?? []
  const response = await fetch(`${inject('serviceUrl')}${path}`, {
    headers: { [header]: its.key, 'User-Agent': agent },
  })
  expect(response.status).toBe(200)
  const [names = [], ...lines] = (await response.text())
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return lines.map((cells) =>
    Object.fromEntries(
      columns.map(({ selector, text, type }) => {
        const index = names.indexOf(selector)
        expect(index, selector).toBeGreaterThanOrEqual(0)
        const cell = cells[index] ?? ''
        return [text, type === 'number' ? Number(cell) : cell]
      }),
    ),
  )
}

describe('connectors/grafana', () => {
  test('the variable lists the brands', async () => {
    const [variable] = dashboard.templating.list
    if (variable === undefined) throw new Error('The dashboard has no variable.')
    const { data } = await call('/brands', { key: its.key })
    expect(await send(variable.query.infinityQuery)).toEqual(
      data.map(({ displayName, id }) => ({ __text: displayName, __value: id })),
    )
  })

  test.for(METRICS)('the panels of $name show its figures', async ({ endpoint, title, formula, totals }) => {
    const [window, days] = dashboard.panels.filter((panel) => panel.title.startsWith(`${title}: `))
    const [target] = window?.targets ?? []
    if (window === undefined || days === undefined || target === undefined)
      throw new Error('A panel is missing.')
    expect(days.targets).toMatchObject([{ panelId: window.id }])
    const rows = await send(target)
    const query = { brandId: its.brandId, fromDate: FROM, toDate: TO }
    const served = await pull(`/${endpoint}`, { key: its.key, query })
    expect(rows).toHaveLength(served.length)
    const per = figuresOf(METRICS).find(({ stream }) => stream.endpoint === endpoint)?.per ?? []
    const nameOf = (row: Readonly<Record<string, unknown>>) => per.map((field) => row[field]).join(' ')
    const figure = (of: typeof served) =>
      formula === null
        ? new Map([['', of.reduce((sum, row) => sum + Number(row[totals[0] ?? '']), 0)]])
        : lineFigures(
            chartLines({
              rows: of.map((row) => ({ ...row, per: nameOf(row) })),
              formula: { per: 'per' },
              compiled: compileFormula(formula),
              name: '',
            }),
          )
    const scale = formula === null ? 1 : 100
    const shown = (panel: Panel, name: string, date?: string) => {
      const [row] = transform(rows, panel.transformations).filter(
        (row) => nameOf(row) === name && (date === undefined || row.date === date),
      )
      return Number(row?.[title]) * scale
    }
    const names = new Set<string>()
    for (const [name, value] of figure(served)) {
      expect(shown(window, name)).toBeCloseTo(Number(value), 6)
      names.add(name)
    }
    expect(names.size).toBe(per.length > 0 ? 3 : 1)
    for (const date of [FROM, TO])
      for (const [name, value] of figure(served.filter((row) => row.date === date)))
        expect(shown(days, name, date)).toBeCloseTo(Number(value), 6)
  })

  test('the data source reads address and key from the environment', () => {
    expect(datasource).toMatch(/ url: \$\{EXPORT_API_URL\}\n/)
    expect(datasource).toMatch(/ apiKeyValue: \$\{EXPORT_API_KEY\}\n/)
    const [, uid] = /uid: (.+)/.exec(datasource) ?? []
    for (const { datasource } of dashboard.panels) expect([uid, '-- Dashboard --']).toContain(datasource.uid)
  })
})

const transform = (rows: readonly Row[], steps: readonly Transformation[]): readonly Row[] =>
  steps.reduce((now, step) => applyStep(now, step), rows)

function applyStep(rows: readonly Row[], { id, options }: Transformation): readonly Row[] {
  const { alias = '', binary, unary, fields, include, renameByName } = options
  if (id === 'calculateField' && binary)
    return rows.map((row) => {
      const [left, right] = [binary.left, binary.right].map((name) => Number(row[name] ?? name))
      return { ...row, [alias]: calculate(Number(left), binary.operator, Number(right)) }
    })
  if (id === 'calculateField' && unary?.operator === 'round')
    return rows.map((row) => ({ ...row, [alias]: Math.round(Number(row[unary.fieldName])) }))
  if (id === 'reduce')
    return [Object.fromEntries(numericNames(rows).map((name) => [name, total(rows, name)]))]
  if (id === 'groupBy' && fields) {
    const by = Object.keys(fields).filter((name) => fields[name]?.operation === 'groupby')
    const summed = Object.keys(fields).filter((name) => fields[name]?.aggregations.includes('sum'))
    const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map((name) => row[name])))
    return [...groups.values()].map((group) => ({
      ...Object.fromEntries(by.map((name) => [name, group[0]?.[name] ?? ''])),
      ...Object.fromEntries(summed.map((name) => [`${name} (sum)`, total(group, name)])),
    }))
  }
  if (id === 'organize' && renameByName) {
    const names = new Map(Object.entries(renameByName))
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [names.get(name) ?? name, value])),
    )
  }
  if (id === 'filterFieldsByName' && include)
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => include.names.includes(name))),
    )
  // These order rows, and split them into series.
  if (id === 'sortBy' || id === 'partitionByValues') return rows
  throw new Error(`Unknown transformation: ${id}`)
}

const numericNames = (rows: readonly Row[]): string[] =>
  Object.keys(rows[0] ?? {}).filter((name) => typeof rows[0]?.[name] === 'number')

const total = (rows: readonly Row[], name: string): number =>
  rows.reduce((sum, row) => sum + Number(row[name]), 0)

function calculate(left: number, operator: string, right: number): number {
  const operations: Readonly<Record<string, number>> = {
    '+': left + right,
    '*': left * right,
    '/': left / right,
  }
  return operations[operator] ?? Number.NaN
}
