import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CopiedTable, type CopyReader, isLive, plain } from './copy.ts'
import type { Row } from './service.ts'

/** Returns what reads `<table>.jsonl` of a folder, a row each line. */
export const readJsonLines =
  (folder: string): CopyReader =>
  async (tables) => {
    const found: [string, CopiedTable][] = []
    for (const table of tables) {
      const text = await readFile(join(folder, `${table}.jsonl`), 'utf8').catch(() => undefined)
      if (text === undefined) continue
      const lines = text.split('\n').filter((line) => line.trim() !== '')
      const rows = lines.map((line): Row => JSON.parse(line)).filter(isLive)
      // The last value that is not null stands for its column.
      const values = new Map<string, unknown>()
      for (const row of rows)
        for (const [name, value] of Object.entries(row)) values.set(name, value ?? values.get(name))
      const columns = [...values].map(([name, value]) => {
        const type = value === undefined ? undefined : `json ${typeof value}`
        return [plain(name), { name, type }] as const
      })
      found.push([table, { rows, columns: new Map(columns) }])
    }
    return new Map(found)
  }
