import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import document from '../functions/openapi.json' with { type: 'json' }
import type { SiteFile } from '../lib/http/site.ts'
import { bundleAsset } from './charts/bundle-asset.ts'
import { llmsTxt } from './markdown/llms.ts'
import { markdown } from './markdown/page.ts'
import { page } from './page.ts'
import { type Reference, readReference } from './reference/reference.ts'

/** The files of a site by their path below the site's. */
type Files = Record<string, SiteFile>

const SCRIPT = 'text/javascript; charset=utf-8'

const SITE = fileURLToPath(new URL('.', import.meta.url))

/** Builds what this module exports. `cli/workers/` replaces the module with the result, so the Workers only serve it. */
export const render = async (): Promise<Record<string, Files>> => ({
  files: await files(),
  llms: await llms(),
})

/** Builds `llms.txt` from the OpenAPI document. */
export async function llms(): Promise<Files> {
  const body = llmsTxt(readReference(document))
  return { '': { type: 'text/plain; charset=utf-8', body, immutable: false } }
}

/** Builds the files of the reference page from the OpenAPI document: the page, its assets, and the page as Markdown. */
export async function files(): Promise<Files> {
  const reference = readReference(document)
  const [[script, ...parts], [style], icon, sync, specification] = await Promise.all([
    bundleAsset({ contents: entryPoint(reference), resolveDir: SITE, loader: 'ts' }, true),
    readFile(`${SITE}style.css`, 'utf8').then((contents) =>
      bundleAsset({ contents, resolveDir: SITE, loader: 'css' }),
    ),
    readFile(`${SITE}icon.svg`, 'utf8'),
    readFile(`${SITE}../docs/sync.md`, 'utf8'),
    readFile(`${SITE}../docs/specification.md`, 'utf8'),
  ])
  const assets: Files = Object.fromEntries(
    parts.map(({ path, text }) => [path, { type: SCRIPT, body: text, immutable: true }]),
  )
  const addAsset = (extension: string, type: string, body: string): string => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    const name = `/${hash}.${extension}`
    assets[name] = { type, body, immutable: true }
    return `docs${name}`
  }
  const addresses = {
    script: addAsset('js', SCRIPT, script.text),
    style: addAsset('css', 'text/css; charset=utf-8', style.text),
    icon: addAsset('svg', 'image/svg+xml', icon),
  }
  const [, program = ''] = /```python\n(.*?)```/s.exec(sync) ?? []
  const text = markdown(reference, { sync, specification })
  const body = String(await page({ reference, markdown: text, files: addresses }))
  return {
    '': { type: 'text/html; charset=utf-8', body, immutable: false },
    '.md': { type: 'text/markdown; charset=utf-8', body: text, immutable: false },
    '/loader.py': { type: 'text/x-python; charset=utf-8', body: program, immutable: false },
    ...assets,
  }
}

/** Returns the source of the page's script. */
function entryPoint({ endpoints }: Reference): string {
  // The page already contains the descriptions and examples, and its script reads no more of the fields.
  const unread = { description: '', nullable: false, additive: false }
  const withoutProse = endpoints.map((endpoint) => ({
    ...endpoint,
    ...{ description: '', example: '', rowName: '', primaryKey: [], statuses: [] },
    fields: endpoint.fields.map((field) => ({ ...field, ...unread })),
    parameters: endpoint.parameters.map((parameter) => ({ ...parameter, description: '', example: '' })),
  }))
  return `
import { main } from './browser/main.ts'
main(${JSON.stringify(withoutProse)})`
}
