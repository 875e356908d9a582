/** What a faulty proxy does to a page: it exchanges two values, renames an entity or loses a row. */
export type Alteration = 'exchange' | 'rename' | 'lose'

type Row = Record<string, unknown>

/**
 * Returns the text of a page with other rows, or of a page of days whose last day lacks its rows, as if the loader died while
 * it stores the page. A page without rows stays as it is.
 */
export function alterPage(text: string, alteration: Alteration): string {
  const page: { data: Row[] } = JSON.parse(text)
  const [row] = page.data
  if (row === undefined) return text
  if ('rows' in row) delete page.data.at(-1)?.rows
  else if (alteration === 'lose') page.data.splice(Math.floor(page.data.length / 2), 1)
  else if (alteration === 'rename' && NAMES.some((name) => name in row)) rename(row)
  else exchange(page.data)
  return JSON.stringify(page)
}

const NAMES = ['market', 'competitor_name', 'entity_name', 'url']

function rename(row: Row): void {
  for (const name of NAMES) if (name in row) row[name] = `${row[name]}!`
}

/** Exchanges a value between two rows of a day, so that sums stay, or two values of a row. */
function exchange(rows: readonly Row[]): void {
  for (const [index, row] of rows.entries()) {
    const other = rows[index + 1]
    for (const [field, value] of Object.entries(row)) {
      if (typeof value !== 'number' || other?.date !== row.date || other?.[field] === value) continue
      row[field] = other?.[field]
      if (other !== undefined) other[field] = value
      return
    }
  }
  for (const row of rows) {
    const [first, second] = Object.keys(row).filter((field) => typeof row[field] === 'number')
    if (first === undefined || second === undefined || row[first] === row[second]) continue
    ;[row[first], row[second]] = [row[second], row[first]]
    return
  }
}
