import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SETTINGS } from '../../cli/deploy/settings.ts'
import { readWorkers } from '../../cli/workers/wrangler-config.ts'
import document from '../../functions/openapi.json' with { type: 'json' }
import { PLANS } from '../../lib/access/plans.ts'
import { BASE } from '../../lib/http/app.ts'
import { RATE_LIMIT } from '../../lib/limits/token-bucket.ts'
import { MOST_ROWS, PAGE_SIZE } from '../../lib/rows/size.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

const FOLDERS = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && !['dist', 'copy', '.state'].includes(entry.name) ? [entry.name] : [],
)
const PAGES = globSync(['*.md', '{connectors,docs,emulator,test}/**/*.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
})

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): string[] =>
  matches(read(page), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

/** The cells of the table below a heading, without the head of the table. */
const rowsOf = (page: string, heading: string): string[][] => {
  const [, section = ''] = read(page).split(new RegExp(`\n##+ ${heading}\n`))
  return matches(section.split(/\n##+ /)[0] ?? '', /^\| (.+) \|$/gm)
    .slice(2)
    .map((row) => row.split(' | '))
}

test.for(PAGES)('each link and path of %s leads to a file and a heading', (page) => {
  const broken = matches(read(page), /\]\((?!\w+:)([^)\s]+)\)/g).filter((link) => {
    const [file, anchor] = link.split('#')
    const target = file ? join(dirname(page), file) : page
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
  })
  const paths = matches(read(page), /`((?:[\w.-]+\/)+[\w.-]*)`/g).filter((path) =>
    FOLDERS.includes(path.split('/')[0] ?? ''),
  )
  expect([...broken, ...paths.filter((path) => !existsSync(join(ROOT, path)))]).toEqual([])
})

const { requests, refill } = RATE_LIMIT

test.for([
  `return pages of at most ${PAGE_SIZE} rows`,
  `window with more than ${MOST_ROWS.toLocaleString('en')} rows returns 400`,
  `bucket of ${requests} requests`,
  `Every ${refill.seconds} seconds`,
  `receives ${refill.requests} more`,
])('docs/specification.md says: %s', (fact) => {
  expect(read('docs/specification.md')).toContain(fact)
})

test('docs/specification.md has the limits of the plans', () => {
  const reach = (days: number | null) =>
    days === null ? 'without limit' : days === 0 ? 'no API access' : `${days} days`
  expect(rowsOf('docs/specification.md', 'Plans')).toEqual(
    Object.entries(PLANS).map(([plan, { lookbackDays, keys }]) => [
      `\`${plan}\``,
      reach(lookbackDays),
      String(keys),
    ]),
  )
})

test.for([
  ['README.md', 'Endpoints'],
  ['docs/specification.md', 'Order of rows'],
] as const)('%s has a row for each endpoint below %s', ([page, heading]) => {
  const named = rowsOf(page, heading).flatMap(([names = '']) => matches(names, /`(\/[\w-]+)`/g))
  const paths = Object.keys(document.paths).map((path) => path.slice(BASE.length))
  expect(named).toEqual(expect.arrayContaining(paths))
})

test('.dev.vars.example lists the settings of a deployment', () => {
  const example = matches(read('.dev.vars.example'), /^([A-Z_]+)=/gm)
  expect(example).toEqual(expect.arrayContaining(Object.keys(SETTINGS)))
})

test('the documents and the alerts name Workers of wrangler.toml', async () => {
  const names = (await readWorkers()).map(({ name }) => name)
  const alerts = readdirSync(join(ROOT, 'docs/alerts')).map((name) => `docs/alerts/${name}`)
  const pages = PAGES.filter((page) => !page.startsWith('connectors/'))
  const named = [...pages, ...alerts].flatMap((page) => [
    ...matches(read(page), /(?<![\w'/-])'export-api-([\w-]+)'/g),
    ...matches(read(page), /^\[env\.([\w-]+)/gm),
    ...matches(read(page), /`([\w-]+)` Worker\b/g),
    ...matches(read(page), /\bWorkers? `([\w-]+)`/g),
  ])
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !names.includes(name))).toEqual([])
})
