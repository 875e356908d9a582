import { html, raw } from 'hono/html'
import { Marked } from 'marked'
import { splitSections } from './markdown/syntax.ts'
import type { Html } from './prose.ts'

/** Sections of docs.md that the page has in another form, or links to. */
const LEFT_OUT = /^(Fewest requests|Digest|Edge cases|Versions|Endpoints|\/.*)$/

export type Guide = { readonly id: string; readonly title: string; readonly content: Html }

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
export function guides(markdown: string): Guide[] {
  const parts = splitSections(markdown).flatMap((part) => {
    const [, level = '', title = '', text = ''] = /^(##+) ([^\n]*)\n(.*)$/s.exec(part) ?? []
    return level === '' || LEFT_OUT.test(title) ? [] : [{ level, title, text }]
  })
  return parts.flatMap(({ level, title, text }, index) => {
    if (level !== '##') return []
    const end = parts.findIndex((part, next) => next > index && part.level === '##')
    const below = parts.slice(index + 1, end < 0 ? undefined : end)
    const id = anchorOf(title)
    const rendered = marked
      .parse([text, ...below.map((part) => `${part.level} ${part.title}\n${part.text}`)].join('\n'), {
        async: false,
      })
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<th></th>', '<td></td>')
      .replace(/<tr>\n<td>((?:<code>)?)([\w.-]+)/g, `<tr>\n<td id="${id}.$2">$1$2`)
    return [{ id, title, content: raw(rendered) }]
  })
}

/** Returns the anchor of a heading, as renderers of Markdown give it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
