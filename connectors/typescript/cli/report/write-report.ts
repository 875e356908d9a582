import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { BrandReport } from '../../../../site/report/report-data.ts'
import { folderStore } from '../folder-store.ts'
import type { Store } from '../store.ts'
import { type Assets, assets } from './assets.ts'
import { readReport } from './read-report.ts'

/** Writes the charts of a copy, or of some of its brands, into one HTML file, and returns what it contains. */
export async function writeReport(
  store: Store,
  out: string,
  wanted?: readonly string[],
): Promise<{ brands: number; bytes: number }> {
  const brands = await readReport(store, wanted)
  const html = page(brands, await assets())
  await folderStore(dirname(out)).replace(basename(out), html)
  return { brands: brands.length, bytes: (await stat(out)).size }
}

/** Writes the page: one file, which its policy forbids to load or send anything. */
function page(brands: readonly BrandReport[], { script, style }: Assets): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "trusted-types 'none'",
    "require-trusted-types-for 'script'",
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(brands.map(({ name }) => name).join(', '))}: AI visibility</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
  <h1>AI visibility</h1>
  <div id="controls" class="tools controls"></div>
</header>
<nav class="live" aria-label="Brands"></nav>
<main id="main" tabindex="-1"><noscript><p class="note">The charts require JavaScript.</p></noscript></main>
<script type="application/json" id="data">${toJson(brands)}</script>
<script type="module">${script}</script>
</body>
</html>
`
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Writes JSON without the characters that could end its element. */
const toJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
