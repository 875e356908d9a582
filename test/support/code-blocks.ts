import { readFile } from 'node:fs/promises'

/** Returns a function that finds the code blocks of a language below a heading of a page of docs/. */
export async function readCodeBlocks(name: string): Promise<(heading: string, language: string) => string[]> {
  const page = await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  return (heading, language) => {
    const [, section = ''] = page.split(new RegExp(`^##+ ${heading}\n`, 'm'))
    const [untilNext = ''] = section.split(/\n##+ /)
    return [...untilNext.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, code = '']) => code,
    )
  }
}
