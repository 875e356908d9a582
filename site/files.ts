import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { StdinOptions } from 'esbuild'
import document from '../functions/openapi.json' with { type: 'json' }
import type { SiteFile } from '../lib/site.ts'
import { javascript, write } from './formula.ts'
import { page } from './page.ts'
import { type Reference, readReference } from './reference.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/**
 * The files of the reference page by their path below its own, made from the OpenAPI document. They are made once, where
 * Workers are bundled: in a bundle, this function gives what was made.
 */
export async function files(): Promise<Record<string, SiteFile>> {
  const reference = readReference(document)
  const [script, style, icon] = await Promise.all([
    build({ contents: entry(reference), resolveDir: HERE, loader: 'ts' }),
    readFile(`${HERE}style.css`, 'utf8').then((contents) => build({ contents, loader: 'css' })),
    readFile(`${HERE}icon.svg`, 'utf8'),
  ])
  const made: Record<string, SiteFile> = {}
  const keep = (extension: string, type: string, body: string): string => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    const name = `/${hash}.${extension}`
    made[name] = { type, body, immutable: true }
    return `docs${name}`
  }
  const addresses = {
    script: keep('js', 'text/javascript; charset=utf-8', script),
    style: keep('css', 'text/css; charset=utf-8', style),
    icon: keep('svg', 'image/svg+xml', icon),
  }
  const body = String(await page({ reference, files: addresses }))
  return { '': { type: 'text/html; charset=utf-8', body, immutable: false }, ...made }
}

/** What the page's script begins with: the reference, and its formulas as functions. */
function entry({ endpoints }: Reference): string {
  const figures = endpoints.flatMap(({ id, formula }) => {
    if (formula === undefined) return []
    const [part, whole] = [formula.part, formula.whole].map(
      (side) => `(rows) => ${write(side, javascript('rows'))}`,
    )
    return [`${JSON.stringify(id)}: { part: ${part}, whole: ${whole} }`]
  })
  // Their prose and their examples are in the page already.
  const lean = endpoints.map((endpoint) => ({
    ...endpoint,
    description: '',
    example: '',
    fields: endpoint.fields.map((field) => ({ ...field, description: '' })),
    parameters: endpoint.parameters.map((parameter) => ({ ...parameter, description: '' })),
  }))
  return `
import { sum } from './browser/figure.ts'
import { start } from './browser/start.ts'
start(${JSON.stringify(lean)}, { ${figures.join(', ')} })`
}

async function build(stdin: StdinOptions): Promise<string> {
  // Loaded when it is needed: whoever only asks which Workers there are needs no bundler.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'silent',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('The bundler gave no file')
  return file.text
}
