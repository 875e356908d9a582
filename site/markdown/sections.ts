/** Splits a Markdown file before each heading, that of the file excepted. */
export const splitSections = (markdown: string): string[] => markdown.split(/\n(?=##+ )/)

/** Returns sections of a Markdown file, each from its heading to the next one. Throws when it lacks a heading. */
export function sections(markdown: string, headings: readonly string[]): string {
  const parts = splitSections(markdown)
  return headings
    .map((heading) => {
      const part = parts.find((each) => each.startsWith(`${heading}\n`))
      if (part === undefined) throw new Error(`The file has no heading "${heading}"`)
      return part.trim()
    })
    .join('\n\n')
}
