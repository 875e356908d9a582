import { createElement } from './elements.ts'

type Content = {
  readonly title: string
  readonly facts: string
  readonly legend: readonly { readonly text: string; readonly color: string }[]
  readonly plot: HTMLCanvasElement
  readonly source: string
}

/** In pixels of the image, which has twice those of a page. */
const SIZE = { margin: 40, text: 26, line: 40, marker: 32 }

/** Draws a chart as a PNG with its title, legend and source, in the colours of the page. */
export async function imageOf({ title, facts, legend, plot, source }: Content): Promise<Blob> {
  const { margin, line, marker } = SIZE
  const width = plot.width + 2 * margin
  const canvas = createElement('canvas')
  const ctx = canvas.getContext('2d')
  if (ctx === null) throw new Error('The browser has no canvas')
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.documentElement)
  const font = `${SIZE.text}px ${fontFamily}`
  // Places the legend before the height is known.
  ctx.font = font
  let [x, y] = [margin, 4 * line]
  const entries = legend.map((entry) => {
    const length = ctx.measureText(entry.text).width + marker
    if (x > margin && x + length > width - margin) [x, y] = [margin, y + line]
    x += length + marker
    return { ...entry, x: x - length - marker, y }
  })
  const top = y + line / 2
  Object.assign(canvas, { width, height: top + plot.height + 2 * line })
  ctx.fillStyle = backgroundColor
  ctx.fillRect(0, 0, canvas.width, canvas.height)
  ctx.drawImage(plot, margin, top)
  const write = (text: string, x: number, y: number, fill = color) => {
    ctx.fillStyle = fill
    ctx.fillText(text, x, y)
  }
  ctx.font = `bold ${font}`
  write(title, margin, 1.5 * line)
  ctx.font = font
  write(facts, margin, 2.5 * line)
  for (const { text, color, x, y } of entries) {
    write('■', x, y, color)
    write(text, x + marker, y)
  }
  write(source, margin, canvas.height - line / 2)
  const image = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (image === null) throw new Error('The image is too large')
  return image
}
