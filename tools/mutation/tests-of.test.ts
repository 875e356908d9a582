import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { STARTING, TESTS_OF, WRITE_STATEMENTS } from './lib/tests-of.ts'

const ROOT = new URL('../../', import.meta.url)

test('every file of lib/ has tests that answer for it, and all of them are there', async () => {
  expect(Object.keys(TESTS_OF).toSorted()).toEqual((await readdir(new URL('lib/', ROOT))).toSorted())
  const files = new Set(Object.values(TESTS_OF).flat())
  expect([...files].filter((file) => !existsSync(new URL(`test/${file}.test.ts`, ROOT)))).toEqual([])
  expect([...STARTING].filter((file) => !files.has(file))).toEqual([])
  expect([...WRITE_STATEMENTS].filter((file) => !(file in TESTS_OF))).toEqual([])
})
