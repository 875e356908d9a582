import { createElement } from './elements.ts'
import { count, type Lines, percent, rateOf } from './lines.ts'
import type { Shown } from './plot.ts'

/** What an image says besides the numbers. */
type Words = { readonly title: string; readonly facts: string; readonly source: string }

/** In pixels of the image, which has twice those of a page. */
const SIZE = { margin: 40, text: 26, line: 40, marker: 32 }

/** Draws a chart as a PNG with its title, legend and source, in the colours of the page. */
export async function imageOf(
  { lines, colorOf, canvas: draw }: Shown,
  { title, facts, source }: Words,
): Promise<Blob> {
  const plot = await draw()
  const { margin, marker } = SIZE
  const width = plot.width + 2 * margin
  const canvas = createElement('canvas')
  const ctx = canvas.getContext('2d')
  if (ctx === null) throw new Error('The browser has no canvas')
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.documentElement)
  const font = `${SIZE.text}px ${fontFamily}`
  // Places the legend before the height is known.
  ctx.font = font
  let [x, y] = [margin, 4 * SIZE.line]
  const entries = lines.map((line) => {
    const text = `${line.name} ${percent(rateOf(line))}, ${count(line)}`
    const length = ctx.measureText(text).width + marker
    if (x > margin && x + length > width - margin) [x, y] = [margin, y + SIZE.line]
    x += length + marker
    return { text, color: colorOf(line), x: x - length - marker, y }
  })
  const top = y + SIZE.line / 2
  Object.assign(canvas, { width, height: top + plot.height + 2 * SIZE.line })
  ctx.fillStyle = backgroundColor
  ctx.fillRect(0, 0, canvas.width, canvas.height)
  ctx.drawImage(plot, margin, top)
  const write = (text: string, x: number, y: number, fill = color) => {
    ctx.fillStyle = fill
    ctx.fillText(text, x, y)
  }
  ctx.font = `bold ${font}`
  write(title, margin, 1.5 * SIZE.line)
  ctx.font = font
  write(facts, margin, 2.5 * SIZE.line)
  for (const { text, color, x, y } of entries) {
    write('■', x, y, color)
    write(text, x + marker, y)
  }
  write(source, margin, canvas.height - SIZE.line / 2)
  const image = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (image === null) throw new Error('The image is too large')
  return image
}

/** Returns a name as a spreadsheet shows it: without the apostrophe, some of these characters would begin a formula. */
const asText = (name: string): string => (/^[=+\-@＝＋－＠\t\r\n]/.test(name) ? `'${name}` : name)

/** Writes the rates of a chart as CSV, in percent. */
export function csvOf({ points, lines }: Lines): Blob {
  const rows = points.map(({ first, last }, point) => [
    ...[first, last],
    ...lines.map((line) => rateOf(line, point, point + 1)?.toFixed(4) ?? ''),
  ])
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  const csv = [['first_day', 'last_day', ...lines.map(({ name }) => asText(name))], ...rows]
  return new Blob(
    csv.map((cells) => `${cells.map(quoted).join(',')}\r\n`),
    { type: 'text/csv' },
  )
}
