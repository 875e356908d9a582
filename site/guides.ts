import { html, raw } from 'hono/html'
import { Marked } from 'marked'
import { splitSections } from './markdown/syntax.ts'
import type { Html } from './prose.ts'

/** Sections of docs.md that the page has in another form, or links to. */
const LEFT_OUT = /^(What loaders meet|Days|Causes|Digest|Versions|Endpoints|\/.*)$/

const marked = new Marked({
  renderer: {
    html: ({ text }) => String(html`${text}`),
    heading: ({ text, depth }) => `<h${depth} id="${anchorOf(text)}">${text}</h${depth}>`,
    code: ({ text, lang = '' }) =>
      String(
        // The only program in Python is as long as the rest of the page's code: a file of its own.
        lang === 'python'
          ? html`<p><a href="docs/loader.py" download>Download loader.py</a></p>
<details class="example live" data-file="docs/loader.py"><summary>Show loader.py</summary><pre tabindex="0"><code></code></pre></details>`
          : html`<pre tabindex="0"><code data-language="${lang}">${text}</code></pre>`,
      ),
  },
})

/** Renders the sections of docs.md. Rows of its tables get anchors, such as `parameters.brandId`. */
export function guides(markdown: string): { id: string; title: string; content: Html }[] {
  const kept = splitSections(markdown).filter((part) => !LEFT_OUT.test(/^##+ (.*)/.exec(part)?.[1] ?? ''))
  const [, ...parts] = kept.join('\n').split(/^## /m)
  return parts.map((part) => {
    const [title = ''] = part.split('\n', 1)
    const id = anchorOf(title)
    const rendered = marked
      .parse(part.slice(title.length), { async: false })
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<th></th>', '<td></td>')
      .replace(/<tr>\n<td>((?:<code>)?)([\w.-]+)/g, `<tr>\n<td id="${id}.$2">$1$2`)
    return { id, title, content: raw(rendered) }
  })
}

/** Returns the anchor of a heading, as renderers of Markdown give it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
