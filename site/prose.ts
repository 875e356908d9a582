import { html, raw } from 'hono/html'

export type Html = ReturnType<typeof html>

/** Renders text of the document: parts between backticks become code, and paths of endpoints become links. */
export function prose(text: string, ids: ReadonlySet<string>): Html {
  return html`${text.split('`').map((part, index) => {
    if (index % 2 === 0) return part
    const id = part.slice(1)
    return part.startsWith('/') && ids.has(id)
      ? html`<a href="#${id}"><code>${part}</code></a>`
      : html`<code>${part}</code>`
  })}`
}

/** Renders a path with line break opportunities after its slashes. */
export const breakable = (path: string): Html =>
  html`${path.split('/').map((part, index) => html`${index > 0 ? raw('/<wbr>') : ''}${part}`)}`
