import { readFile } from 'node:fs/promises'
import { DefaultSettings, NewlineLiteral, tryFormat } from '@microsoft/powerquery-formatter'
import { expect, test } from 'vitest'

// No engine runs Power Query outside Windows and Microsoft's cloud. Microsoft's package parses and formats it.

test('the function parses, and is formatted', async () => {
  const source = await readFile(new URL('../ExportApi.pq', import.meta.url), 'utf8')
  const settings = { ...DefaultSettings, newlineLiteral: NewlineLiteral.Unix }
  expect(await tryFormat(settings, source)).toMatchObject({ value: source })
})
