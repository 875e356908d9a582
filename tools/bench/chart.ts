/** Bars side by side: one group a subject, one bar a series in it; the longest is the best. */
export type Chart = {
  readonly title: string
  readonly subtitle: string
  readonly series: readonly string[]
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[]
  readonly footnotes: readonly string[]
}

const WIDTH = 760
const MARGIN = 24
/** Where bars begin, and how much is kept for the number behind the longest. */
const LEFT = 208
const NUMBER = 52
const TOP = 106
const BAR = 15
const GAP = 14
const LINE = 18

/** Its own background in either theme, so that it reads well where a page's theme is not the system's. */
const STYLE = `
  text { font: 13px -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 } .quiet { fill: #59636e; font-size: 12px }
  .card { fill: #ffffff; stroke: #d1d9e0 } .axis { stroke: #d1d9e0 }
  .s0 { fill: #0969da } .s1 { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .quiet { fill: #9198a1 }
    .card { fill: #0d1117; stroke: #3d444d } .axis { stroke: #3d444d }
    .s0 { fill: #4493f8 } .s1 { fill: #db6d28 }
  }`

/** A chart as an SVG document. */
export function svg({ title, subtitle, series, groups, footnotes }: Chart): string {
  const most = Math.max(...groups.flatMap(({ values }) => values))
  const length = (value: number) => (value / most) * (WIDTH - LEFT - MARGIN - NUMBER)
  const tall = series.length * (BAR + 2)
  const bottom = TOP + groups.length * (tall + GAP)
  const height = bottom + 20 + footnotes.length * LINE
  const legend = series.map((name, index) => {
    const x = LEFT + index * 180
    return `<rect class="s${index}" x="${x}" y="76" width="12" height="12" rx="2"/>${text({ x: x + 18, y: 87 }, name)}`
  })
  const bars = groups.flatMap(({ name, values }, row) => {
    const y = TOP + row * (tall + GAP)
    const label = text({ x: LEFT - 12, y: y + tall / 2 + 4, end: true }, name)
    return [
      label,
      ...values.map((value, index) => {
        const at = y + index * (BAR + 2)
        const bar = `<rect class="s${index}" x="${LEFT}" y="${at}" width="${length(value).toFixed(1)}" height="${BAR}" rx="2"/>`
        return bar + text({ x: LEFT + length(value) + 7, y: at + 12, quiet: true }, value.toPrecision(2))
      }),
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="${MARGIN}" y="34">${escaped(title)}</text>
${text({ x: MARGIN, y: 56, quiet: true }, subtitle)}
${legend.join('\n')}
${bars.join('\n')}
<line class="axis" x1="${LEFT - 0.5}" x2="${LEFT - 0.5}" y1="${TOP - 6}" y2="${bottom - GAP + 6}"/>
${footnotes.map((line, index) => text({ x: MARGIN, y: bottom + 16 + index * LINE, quiet: true }, line)).join('\n')}
</svg>
`
}

type Place = { readonly x: number; readonly y: number; readonly end?: true; readonly quiet?: true }

const text = ({ x, y, end, quiet }: Place, what: string): string =>
  `<text${quiet ? ' class="quiet"' : ''} x="${x.toFixed(1)}" y="${y.toFixed(1)}"${end ? ' text-anchor="end"' : ''}>${escaped(what)}</text>`

const escaped = (what: string): string =>
  what.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
