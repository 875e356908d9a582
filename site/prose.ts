import { html } from 'hono/html'

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
