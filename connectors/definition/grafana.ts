import type { Options as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge'
import type { Dataquery } from '@grafana/grafana-foundation-sdk/cog'
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  LegendDisplayMode,
  LegendPlacement,
  PercentChangeColorMode,
  SortOrder,
  TooltipDisplayMode,
  VizOrientation,
} from '@grafana/grafana-foundation-sdk/common'
import {
  type Dashboard,
  type DataTransformerConfig,
  type FieldConfig,
  MappingType,
  type Panel,
  SpecialValueMatch,
  VariableRefresh,
  VariableSort,
  VariableType,
} from '@grafana/grafana-foundation-sdk/dashboard'
import type { Options as Stat } from '@grafana/grafana-foundation-sdk/stat'
import type { Options as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries'
import { BASE } from '../../lib/app.ts'
import { figureOf } from './formulas.ts'
import type { Generated } from './generated.ts'
import type { Column, ColumnType, Stream } from './streams.ts'

// The types of Grafana's SDK check the dashboard, with `npm run check`.

const EXPORT_API = { type: 'yesoreyeram-infinity-datasource', uid: 'export-api' }
const OTHER_PANEL = { type: 'datasource', uid: '-- Dashboard --' }
const HEIGHT = 8

/** Types of columns in the Infinity data source. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  uuid: 'string',
  date: 'timestamp',
  text: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  timestamp: 'timestamp',
  json: 'string',
}

/** Writes the dashboard: the figure of the window and the figures of its days, for each metric. */
export const grafana = (streams: readonly Stream[]): Generated[] => {
  const metrics = streams.filter(({ kind }) => kind === 'metric')
  const dashboard: Dashboard = {
    uid: 'export-api',
    title: 'Export API',
    tags: ['export-api'],
    // A day of the data is a day in UTC.
    timezone: 'utc',
    editable: true,
    schemaVersion: 41,
    time: { from: 'now-30d/d', to: 'now/d' },
    refresh: '',
    templating: { list: [brandVariable] },
    annotations: { list: [] },
    panels: metrics.flatMap((stream, index) => panelsOf(measureOf(stream), index)),
  }
  return [{ path: 'grafana/dashboard.json', text: `${JSON.stringify(dashboard, null, 2)}\n` }]
}

const query = (fields: { refId: string; [name: string]: unknown }): Dataquery => ({
  ...fields,
  // Marks a query of Grafana's types. JSON leaves it out.
  _implementsDataqueryVariant: () => undefined,
})

const csvQuery = (path: string, columns: readonly { selector: string; text: string; type: string }[]) => ({
  refId: 'A',
  datasource: EXPORT_API,
  type: 'csv',
  source: 'url',
  parser: 'backend',
  format: 'table',
  url: `${BASE}/${path}`,
  url_options: { method: 'GET', data: '' },
  root_selector: '',
  columns,
  filters: [],
})

const brandVariable = {
  type: VariableType.Query,
  name: 'brand',
  label: 'Brand',
  datasource: EXPORT_API,
  refresh: VariableRefresh.OnDashboardLoad,
  sort: VariableSort.AlphabeticalAsc,
  query: {
    queryType: 'infinity',
    refId: 'brand',
    query: '',
    infinityQuery: csvQuery('brands?format=csv', [
      { selector: 'displayName', text: '__text', type: 'string' },
      { selector: 'id', text: '__value', type: 'string' },
    ]),
  },
}

/** What a metric's panels compute: sums of columns, and their quotient. */
type Measure = {
  readonly stream: Stream
  /** Columns that name a series each. */
  readonly per: readonly string[]
  /** Transformations of rows, before the sums. */
  readonly prepare: readonly DataTransformerConfig[]
  /** Columns to sum for the dividend and the divisor. Without divisor, the sum of the dividend is the figure. */
  readonly part: readonly string[]
  readonly whole: readonly string[]
  readonly columns: readonly Column[]
}

function measureOf(stream: Stream): Measure {
  const { formula, totals, columns } = stream
  const part = formula ? termsOf(formula.part) : totals.map((name) => ({ name, prepare: [] }))
  const whole = formula ? termsOf(formula.whole) : []
  const figure = figureOf(stream)
  const per = figure?.per ?? []
  const used = ['date', ...per, ...(figure?.columns ?? totals)]
  return {
    stream,
    per,
    prepare: [...part, ...whole].flatMap(({ prepare }) => prepare),
    part: part.map(({ name }) => name),
    whole: whole.map(({ name }) => name),
    columns: columns.filter(({ name }) => used.includes(name)),
  }
}

/** Reads a side of a formula: a sum of columns, or of `round(a × b / c)`. */
const termsOf = (side: string): { name: string; prepare: DataTransformerConfig[] }[] =>
  side.split(' + ').map((sum) => {
    const [, name] = /^sum\((\w+)\)$/.exec(sum) ?? []
    if (name !== undefined) return { name, prepare: [] }
    const [, left = '', right = '', divisor = ''] = /^sum\(round\((\w+) × (\w+) \/ (\d+)\)\)$/.exec(sum) ?? []
    if (left === '') throw new Error(`The dashboard has no transformations for ${sum}.`)
    return {
      name: 'rounded',
      prepare: [
        binary({ left, operator: '*', right, alias: 'product' }),
        binary({ left: 'product', operator: '/', right: divisor, alias: 'quotient' }),
        {
          id: 'calculateField',
          options: { mode: 'unary', alias: 'rounded', unary: { operator: 'round', fieldName: 'quotient' } },
        },
      ],
    }
  })

const binary = ({ alias, ...binary }: { left: string; operator: string; right: string; alias: string }) => ({
  id: 'calculateField',
  options: { mode: 'binary', alias, binary },
})

/** Sums rows by columns, then divides. The figure has the name of the metric. */
function figures(measure: Measure, by: readonly string[]): DataTransformerConfig[] {
  const { stream, prepare, part, whole } = measure
  const summed = [...new Set([...part, ...whole])]
  // A reduced column keeps its name, an aggregated one does not.
  const sumOf = (name: string) => (by.length > 0 ? `${name} (sum)` : name)
  const fields = {
    ...Object.fromEntries(by.map((name) => [name, { operation: 'groupby', aggregations: [] }])),
    ...Object.fromEntries(summed.map((name) => [name, { operation: 'aggregate', aggregations: ['sum'] }])),
  }
  const sums =
    by.length > 0
      ? { id: 'groupBy', options: { fields } }
      : { id: 'reduce', options: { mode: 'reduceFields', reducers: ['sum'], includeTimeField: false } }
  const dividend = addUp(part.map(sumOf), 'part')
  const divisor = addUp(whole.map(sumOf), 'whole')
  const divide =
    divisor.name === undefined
      ? { id: 'organize', options: { renameByName: { [dividend.name ?? '']: stream.title } } }
      : binary({ left: dividend.name ?? '', operator: '/', right: divisor.name, alias: stream.title })
  return [
    ...prepare,
    sums,
    ...dividend.steps,
    ...divisor.steps,
    divide,
    { id: 'filterFieldsByName', options: { include: { names: [...by, stream.title] } } },
  ]
}

/** Adds columns of a row. Returns the name of their sum. */
function addUp(
  [left, right, ...others]: readonly string[],
  alias: string,
): { name: string | undefined; steps: DataTransformerConfig[] } {
  if (others.length > 0) throw new Error('The dashboard adds two columns at most.')
  if (left === undefined || right === undefined) return { name: left, steps: [] }
  return { name: alias, steps: [binary({ left, operator: '+', right, alias })] }
}

function panelsOf(measure: Measure, index: number): Panel[] {
  const { stream, per, columns, whole } = measure
  const [id, y] = [index * 2 + 1, index * HEIGHT]
  const path = `${stream.endpoint}?format=csv&brandId=\${brand}&fromDate=\${__timeFrom:date:YYYY-MM-DD}&toDate=\${__timeTo:date:YYYY-MM-DD}`
  const selected = columns.map(({ name, field, type }) => ({
    selector: field,
    text: name,
    type: TYPES[type],
  }))
  const fieldConfig = {
    overrides: [],
    defaults: {
      // A quotient of 0 and 0 is no figure.
      mappings: [
        {
          type: MappingType.SpecialValue,
          options: { match: SpecialValueMatch.NullAndNan, result: { text: '–' } },
        },
      ],
      ...(whole.length > 0 && { unit: 'percentunit', min: 0, max: 1 }),
    } satisfies FieldConfig,
  }
  return [
    {
      id,
      title: `${stream.title}: window`,
      description: stream.description,
      type: per.length > 0 ? 'bargauge' : 'stat',
      gridPos: { x: 0, y, w: 8, h: HEIGHT },
      datasource: EXPORT_API,
      targets: [query(csvQuery(path, selected))],
      transformations: [...figures(measure, per), ...(per.length > 0 ? [descending(stream.title)] : [])],
      fieldConfig,
      options: per.length > 0 ? bars : number,
    },
    {
      id: id + 1,
      title: `${stream.title}: days`,
      type: 'timeseries',
      gridPos: { x: 8, y, w: 16, h: HEIGHT },
      // The other panel's rows: the service is asked once.
      datasource: OTHER_PANEL,
      targets: [query({ refId: 'A', datasource: OTHER_PANEL, panelId: id })],
      transformations: [
        ...figures(measure, ['date', ...per]),
        ...(per.length > 0 ? [{ id: 'partitionByValues', options: { fields: per, keepFields: false } }] : []),
      ],
      fieldConfig: { ...fieldConfig, overrides: per.slice(-1).map(nameSeriesBy) },
      options: lines,
    },
  ]
}

/** Names a series after a label alone, not after its metric and all labels. */
const nameSeriesBy = (label: string) => ({
  matcher: { id: 'byType', options: 'number' },
  properties: [{ id: 'displayName', value: `\${__field.labels.${label}}` }],
})

const descending = (field: string) => ({ id: 'sortBy', options: { sort: [{ field, desc: true }] } })

const LEGEND = { displayMode: LegendDisplayMode.List, placement: LegendPlacement.Bottom, calcs: [] }

const number: Stat = {
  graphMode: BigValueGraphMode.None,
  colorMode: BigValueColorMode.None,
  justifyMode: BigValueJustifyMode.Auto,
  textMode: BigValueTextMode.Value,
  wideLayout: true,
  showPercentChange: false,
  percentChangeColorMode: PercentChangeColorMode.Standard,
  orientation: VizOrientation.Auto,
  reduceOptions: { calcs: ['lastNotNull'] },
}

const bars: BarGauge = {
  displayMode: BarGaugeDisplayMode.Basic,
  valueMode: BarGaugeValueMode.Text,
  namePlacement: BarGaugeNamePlacement.Auto,
  showUnfilled: true,
  sizing: BarGaugeSizing.Auto,
  minVizWidth: 8,
  minVizHeight: 16,
  maxVizHeight: 300,
  legend: { ...LEGEND, showLegend: false },
  orientation: VizOrientation.Horizontal,
  // A bar for each row.
  reduceOptions: { values: true, calcs: [] },
}

const lines: TimeSeries = {
  legend: { ...LEGEND, showLegend: true },
  tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
}
