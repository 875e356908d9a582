import { html, raw } from 'hono/html'

export type Html = ReturnType<typeof html>

/** A text of the document: what stands between backticks is code, and an endpoint's path among it leads there. */
export function prose(text: string, ids: ReadonlySet<string>): Html {
  return html`${text.split('`').map((part, index) => {
    if (index % 2 === 0) return part
    const id = part.slice(1)
    return part.startsWith('/') && ids.has(id)
      ? html`<a href="#${id}"><code>${part}</code></a>`
      : html`<code>${part}</code>`
  })}`
}

/** A path that may be broken at its slashes, where a line is too short for it. */
export const breakable = (path: string): Html =>
  html`${path.split('/').map((part, index) => html`${index > 0 ? raw('/<wbr>') : ''}${part}`)}`
