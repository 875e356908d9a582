import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** The folders and rooms of the service. Each may import those after it. */
const ORDER = [
  'cli',
  'connectors',
  'emulator',
  'cli/workers',
  'functions',
  'site',
  'cli/local',
  'site/report',
  'site/charts',
  'site/reference',
  'lib/share',
  'lib/days',
  'lib/page',
  'lib/file',
  'lib/http',
  'lib/access',
  'lib/limits',
  'lib/refresh',
  'lib/rows',
  'lib/database',
  'lib/request',
  'drizzle',
]

/** Tests, and what only they use. */
const TESTS = /(^|\/)(tests?|integration_tests|test-support|recipes)\//

const roomOf = (path: string): number => {
  const rooms = ORDER.filter((room) => path.startsWith(`${room}/`))
  return ORDER.indexOf(rooms.sort((left, right) => right.length - left.length)[0] ?? '')
}

test('imports point one way', () => {
  const files = globSync('{functions,lib,drizzle,cli,emulator,site,connectors}/**/*.{ts,mjs}')
  const sources = files.filter((path) => !TESTS.test(path) && !path.includes('node_modules'))
  expect(sources.length).toBeGreaterThan(300)
  const wrong = sources.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?:from|import)[ (]+'(\.[^'$]+\.(?:ts|mjs))'/g)]
      .map(([, imported = '']) => normalize(join(dirname(path), imported)))
      .filter((imported) => TESTS.test(imported) || roomOf(imported) < roomOf(path))
      .map((imported) => `${path} imports ${imported}`),
  )
  expect(wrong).toEqual([])
})
