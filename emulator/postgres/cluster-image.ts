import { readFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

// initdb takes most of the time of a start, and its result is always the same: it runs once per version of PGlite.
const PACKAGE = fileURLToPath(
  new URL('../../node_modules/@electric-sql/pglite/package.json', import.meta.url),
)
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
const PATH = fileURLToPath(
  new URL(`../../node_modules/.cache/export-api/pglite-${version}.tar`, import.meta.url),
)

/** Reads the data directory of an empty cluster; undefined before the first start. */
export async function readImage(): Promise<Blob | undefined> {
  try {
    return new Blob([await readFile(PATH)])
  } catch {
    return undefined
  }
}

/** Keeps the data directory of an empty cluster for the next start. */
export async function writeImage(image: Blob): Promise<void> {
  const unfinished = `${PATH}.${process.pid}-${Date.now()}`
  await mkdir(dirname(PATH), { recursive: true })
  await writeFile(unfinished, Buffer.from(await image.arrayBuffer()))
  await rename(unfinished, PATH)
}
