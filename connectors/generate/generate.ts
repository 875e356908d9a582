import { readFile, writeFile } from 'node:fs/promises'
import { readStreams, type Stream } from '../../site/reference/streams.ts'
import { airbyte } from './airbyte.ts'
import { dax } from './dax.ts'
import { dbt } from './dbt.ts'
import { dlt } from './dlt.ts'
import { duckdb } from './duckdb.ts'
import type { Generated } from './generated.ts'
import { powerbi } from './powerbi.ts'
import { typescript } from './typescript.ts'
import { views } from './views.ts'

const WRITERS: readonly ((streams: readonly Stream[]) => readonly Generated[])[] = [
  airbyte,
  dax,
  dbt,
  dlt,
  duckdb,
  powerbi,
  typescript,
  views,
]

const urlOf = (path: string): URL => new URL(`../${path}`, import.meta.url)

/** Returns the content of a file with its block replaced. Throws when the file does not have the block. */
export function withBlock(content: string, block: string, text: string): string {
  const [start, end] = [`<generated ${block}>`, `</generated ${block}>`]
  const lines = content.split('\n')
  const first = lines.findIndex((line) => line.includes(start))
  const last = lines.findIndex((line) => line.includes(end))
  if (first < 0 || last < first) throw new Error(`The lines ${start} and ${end} are missing.`)
  return [...lines.slice(0, first + 1), text.replace(/\n$/, ''), ...lines.slice(last)].join('\n')
}

/** Returns the content that each generated file should have, by its path from `connectors/`. */
export async function generate(): Promise<Map<string, string>> {
  const streams = readStreams()
  const files = new Map<string, string>()
  for (const { path, text, block } of WRITERS.flatMap((writer) => writer(streams))) {
    if (block === undefined) files.set(path, text)
    else files.set(path, withBlock(files.get(path) ?? (await readFile(urlOf(path), 'utf8')), block, text))
  }
  return files
}

/** Returns the paths of the generated files that are out of date. */
export async function outdated(files: ReadonlyMap<string, string>): Promise<string[]> {
  const paths: string[] = []
  for (const [path, content] of files) {
    const current = await readFile(urlOf(path), 'utf8').catch(() => undefined)
    if (current !== content) paths.push(path)
  }
  return paths
}

/** Writes the generated files. */
export async function writeGenerated(files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, content] of files) await writeFile(urlOf(path), content)
}
