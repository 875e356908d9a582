import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { StdinOptions } from 'esbuild'
import document from '../functions/openapi.json' with { type: 'json' }
import type { SiteFile } from '../lib/site.ts'
import { javascript, toCode } from './formula.ts'
import { page } from './page.ts'
import { type Reference, readReference } from './reference.ts'

const SITE = fileURLToPath(new URL('.', import.meta.url))

/**
 * Builds the files of the reference page from the OpenAPI document. Returns them by their path below the page's path.
 * `bundle/` replaces this module with its result, so the Worker only serves them.
 */
export async function files(): Promise<Record<string, SiteFile>> {
  const reference = readReference(document)
  const [script, style, icon] = await Promise.all([
    build({ contents: entryPoint(reference), resolveDir: SITE, loader: 'ts' }),
    readFile(`${SITE}style.css`, 'utf8').then((contents) => build({ contents, loader: 'css' })),
    readFile(`${SITE}icon.svg`, 'utf8'),
  ])
  const assets: Record<string, SiteFile> = {}
  const addAsset = (extension: string, type: string, body: string): string => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    const name = `/${hash}.${extension}`
    assets[name] = { type, body, immutable: true }
    return `docs${name}`
  }
  const addresses = {
    script: addAsset('js', 'text/javascript; charset=utf-8', script),
    style: addAsset('css', 'text/css; charset=utf-8', style),
    icon: addAsset('svg', 'image/svg+xml', icon),
  }
  const body = String(await page({ reference, files: addresses }))
  return { '': { type: 'text/html; charset=utf-8', body, immutable: false }, ...assets }
}

/** Returns the source of the page's script: the endpoints, and their formulas compiled to functions. */
function entryPoint({ endpoints }: Reference): string {
  const formulas = endpoints.flatMap(({ id, formula }) => {
    if (formula === undefined) return []
    const [part, whole] = [formula.part, formula.whole].map(
      (side) => `(rows) => ${toCode(side, javascript('rows'))}`,
    )
    return [`${JSON.stringify(id)}: { part: ${part}, whole: ${whole} }`]
  })
  // The page already contains the descriptions and examples.
  const withoutProse = endpoints.map((endpoint) => ({
    ...endpoint,
    description: '',
    example: '',
    fields: endpoint.fields.map((field) => ({ ...field, description: '' })),
    parameters: endpoint.parameters.map((parameter) => ({ ...parameter, description: '' })),
  }))
  return `
/*! d3-array and d3-time: Copyright Mike Bostock, ISC License */
import { sum } from './browser/evaluate-formula.ts'
import { main } from './browser/main.ts'
main(${JSON.stringify(withoutProse)}, { ${formulas.join(', ')} })`
}

async function build(stdin: StdinOptions): Promise<string> {
  // Imported here because commands that only list the Workers do not need esbuild.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    logLevel: 'silent',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild returned no file')
  return file.text
}
