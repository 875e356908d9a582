/** Returns sections of a Markdown file, each from its heading to the next one. Throws when it lacks a heading. */
export function sections(markdown: string, headings: readonly string[]): string {
  const parts = markdown.split(/\n(?=##+ )/)
  return headings
    .map((heading) => {
      const part = parts.find((each) => each.startsWith(`${heading}\n`))
      if (part === undefined) throw new Error(`The file has no heading "${heading}"`)
      return part.trim()
    })
    .join('\n\n')
}
