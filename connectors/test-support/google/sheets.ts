/** A cell as the Sheets API sends it. */
type CellData = {
  readonly userEnteredValue?: {
    readonly stringValue?: string
    readonly numberValue?: number
    readonly boolValue?: boolean
  }
  readonly userEnteredFormat?: { readonly numberFormat?: { readonly type: string; readonly pattern: string } }
}

type RowData = { readonly values: readonly CellData[] }

type Sheet = {
  readonly sheetId: number
  readonly title: string
  readonly frozenRowCount: number
  readonly columnCount: number
  /** Rows of the grid; the last ones can be blank. */
  readonly rowCount: number
  readonly rows: readonly RowData[]
}

type Request = {
  readonly addSheet?: {
    readonly properties: {
      readonly sheetId: number
      readonly title: string
      readonly gridProperties: { rowCount: number; columnCount: number; frozenRowCount: number }
    }
  }
  readonly deleteSheet?: { readonly sheetId: number }
  readonly appendCells?: {
    readonly sheetId: number
    readonly rows: readonly RowData[]
    readonly fields: string
  }
  readonly appendDimension?: { readonly sheetId: number; readonly length: number }
  readonly deleteDimension?: {
    readonly range: { readonly sheetId: number; readonly startIndex: number; readonly endIndex: number }
  }
}

const MAX_CELLS = 10_000_000

/** Stands in for a spreadsheet: for SpreadsheetApp, and for the advanced service of the Sheets API. */
export function spreadsheet({ prompts, otherCells }: { prompts: readonly string[]; otherCells: number }) {
  let book: readonly Sheet[] = [
    { sheetId: 0, title: 'Sheet1', frozenRowCount: 0, columnCount: 1, rowCount: otherCells, rows: [] },
  ]
  const toasts: string[] = []
  const alerts: string[] = []
  const answers = [...prompts]

  const batchUpdate = ({ requests }: { requests: readonly Request[] }) => {
    // All or nothing: `book` stays when a request throws.
    let changed = book
    for (const request of requests) changed = apply(changed, request)
    if (changed.reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0) > MAX_CELLS)
      throw new Error(`This action would increase the number of cells above the limit of ${MAX_CELLS} cells.`)
    book = changed
  }

  const get = () => ({
    sheets: book.map(({ sheetId, title, rowCount, columnCount }) => ({
      properties: { sheetId, title, gridProperties: { rowCount, columnCount } },
    })),
  })

  /** Reads `name!A2:B`, without the blank rows at the end. */
  const getValues = (_id: string, range: string) => {
    const [title, cells] = range.split('!')
    if (cells !== 'A2:B') throw new Error(`Unable to parse range: ${range}`)
    const sheet = book.find((sheet) => sheet.title === title)
    if (!sheet) throw new Error(`Unable to parse range: ${range}`)
    const values = sheet.rows.slice(1).map(({ values }) => values.slice(0, 2).map(toValue))
    return values.length > 0 ? { values } : {}
  }

  const ui = {
    ButtonSet: { OK_CANCEL: 'OK_CANCEL' },
    Button: { OK: 'OK', CANCEL: 'CANCEL' },
    prompt: () => {
      const text = answers.shift()
      return {
        getSelectedButton: () => (text === undefined ? 'CANCEL' : 'OK'),
        getResponseText: () => text,
      }
    },
    alert: (text: string) => void alerts.push(text),
  }

  return {
    sheets: { Spreadsheets: { get, batchUpdate, Values: { get: getValues } } },
    spreadsheetApp: {
      getUi: () => ui,
      getActive: () => ({ getId: () => 'book', toast: (text: string) => void toasts.push(text) }),
    },
    read: () => ({
      toasts,
      alerts,
      sheets: Object.fromEntries(
        book.map(({ title, rows }) => [
          title,
          {
            rows: rows.map(({ values }) => values.map(toValue)),
            formats: rows.map(({ values }) =>
              values.map((cell) => cell.userEnteredFormat?.numberFormat?.pattern ?? null),
            ),
          },
        ]),
      ),
    }),
  }
}

function apply(book: readonly Sheet[], request: Request): readonly Sheet[] {
  const change = (id: number, how: (sheet: Sheet) => Sheet) => {
    if (!book.some(({ sheetId }) => sheetId === id)) throw new Error(`No grid with id: ${id}`)
    return book.map((sheet) => (sheet.sheetId === id ? how(sheet) : sheet))
  }
  const { addSheet, deleteSheet, appendCells, appendDimension, deleteDimension } = request
  if (addSheet) {
    const { sheetId, title, gridProperties } = addSheet.properties
    if (book.some((sheet) => sheet.sheetId === sheetId || sheet.title === title))
      throw new Error(`Invalid addSheet: ${title}`)
    return [...book, { sheetId, title, ...gridProperties, rows: [] }]
  }
  if (deleteSheet) return book.filter(({ sheetId }) => sheetId !== deleteSheet.sheetId)
  if (appendCells) {
    for (const { values } of appendCells.rows) values.forEach(requireValid)
    return change(appendCells.sheetId, (sheet) => {
      const rows = [...sheet.rows, ...appendCells.rows]
      return { ...sheet, rows, rowCount: Math.max(sheet.rowCount, rows.length) }
    })
  }
  if (appendDimension)
    return change(appendDimension.sheetId, (sheet) => ({
      ...sheet,
      rowCount: sheet.rowCount + appendDimension.length,
    }))
  if (deleteDimension) {
    const { sheetId, startIndex, endIndex } = deleteDimension.range
    return change(sheetId, (sheet) => {
      const rowCount = sheet.rowCount - (endIndex - startIndex)
      if (startIndex >= endIndex || endIndex > sheet.rowCount) throw new Error('Invalid deleteDimension')
      if (rowCount <= sheet.frozenRowCount) throw new Error('You cannot delete all non-frozen rows.')
      return { ...sheet, rowCount, rows: [...sheet.rows.slice(0, startIndex), ...sheet.rows.slice(endIndex)] }
    })
  }
  throw new Error(`Unknown request: ${JSON.stringify(request)}`)
}

function requireValid({ userEnteredValue = {} }: CellData): void {
  const { stringValue, numberValue } = userEnteredValue
  if (Object.keys(userEnteredValue).length > 1) throw new Error('Only one value of a cell can be set.')
  if (stringValue !== undefined && stringValue.length > 50_000)
    throw new Error('A cell has at most 50000 characters.')
  if (numberValue !== undefined && !Number.isFinite(numberValue)) throw new Error('Invalid numberValue')
}

const toValue = ({ userEnteredValue = {} }: CellData): string | number | boolean | null =>
  userEnteredValue.stringValue ?? userEnteredValue.numberValue ?? userEnteredValue.boolValue ?? null
