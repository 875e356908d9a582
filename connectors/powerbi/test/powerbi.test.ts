import { readFile } from 'node:fs/promises'
import { DefaultSettings, NewlineLiteral, tryFormat } from '@microsoft/powerquery-formatter'
import { TaskUtils } from '@microsoft/powerquery-parser'
import { describe, expect, test } from 'vitest'

// No engine runs connectors/powerbi outside Windows and Microsoft's cloud. Microsoft's packages parse and format it.

const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), 'utf8')
const source = await read('ExportApi.pq')

describe('connectors/powerbi', () => {
  test('parses as a section', async () => {
    const parsed = await TaskUtils.tryLexParse(DefaultSettings, source)
    expect(TaskUtils.isParseStageOk(parsed) && parsed.ast.kind).toBe('Section')
  })

  test(`is formatted as Microsoft's formatter does`, async () => {
    const formatted = await tryFormat({ ...DefaultSettings, newlineLiteral: NewlineLiteral.Unix }, source)
    expect(formatted).toMatchObject({ value: source })
  })

  test('the query of its README parses', async () => {
    const [, query = ''] = /```powerquery\n(.*?)```/s.exec(await read('README.md')) ?? []
    expect(query).toContain('ExportApi.Contents')
    expect(TaskUtils.isParseStageOk(await TaskUtils.tryLexParse(DefaultSettings, query))).toBe(true)
  })
})
