import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { describeFound, findKeys } from '../../cli/key-check.ts'

const REAL = 'svc_live_0123456789abcdef0123456789abcdef0123456789abcdef0123456736f1a9d9'
const OLD = `svc_live_${'de30'.repeat(16)}`

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

async function* lines(...texts: string[]) {
  yield* texts
}

test('finds every key of a text with its line, and reports its last four characters and its hash', async () => {
  const found = await findKeys(
    lines('nothing', `+K="${REAL}" ${OLD}`, `-${REAL.slice(0, -1)}`, `?k=${REAL}&`),
  )
  expect(found).toEqual([
    { line: 2, lastFour: 'a9d9', checksum: true, sha256: hashOf(REAL) },
    { line: 2, lastFour: 'de30', checksum: false, sha256: hashOf(OLD) },
    { line: 4, lastFour: 'a9d9', checksum: true, sha256: hashOf(REAL) },
  ])
  expect(found.map(describeFound).slice(0, 2)).toEqual([
    `line 2  svc_live_…a9d9  valid checksum  SHA-256 ${hashOf(REAL)}`,
    `line 2  svc_live_…de30  no valid checksum  SHA-256 ${hashOf(OLD)}`,
  ])
})

test('ignores what is longer, shorter, uppercase or part of a word', async () => {
  const others = [`${REAL}0`, REAL.slice(0, -1), REAL.toUpperCase(), `x${REAL}`, `${REAL}_`, REAL.slice(9)]
  expect(await findKeys(lines('', ...others))).toEqual([])
})
