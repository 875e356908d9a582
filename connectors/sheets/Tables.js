// Limit of Google Sheets, over all sheets of a spreadsheet.
const MAX_CELLS = 10_000_000

const FORMATS = {
  date: { type: 'DATE', pattern: 'yyyy-mm-dd' },
  timestamp: { type: 'DATE_TIME', pattern: 'yyyy-mm-dd hh:mm:ss' },
}

/** Cells of all sheets. Read once in a run, since a user has 60 reads a minute. */
let usedCells = 0

/** Opens a sheet for each stream, by endpoint. Forgets what is loaded when one is missing, and creates it. */
function openTables() {
  const present = readSheets()
  usedCells = present.reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0)
  const missing = STREAMS.filter(({ name }) => !present.some(({ title }) => title === name))
  // Before a sheet is created: a run that ends in between would leave it empty.
  if (missing.length > 0) forgetTokens()
  const sheets = [...present, ...missing.map(createSheet)]
  return Object.fromEntries(
    STREAMS.map((stream) => [
      stream.endpoint,
      openTable(
        stream,
        sheets.find(({ title }) => title === stream.name),
      ),
    ]),
  )
}

/** Opens a sheet whose first row has the names of the columns. */
function openTable(stream, { sheetId }) {
  /** The brand and the day of each row. Read once, since reading a long sheet takes seconds. */
  let keys
  const readKeys = () => {
    const options = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'SERIAL_NUMBER' }
    const { values = [] } = Sheets.Spreadsheets.Values.get(spreadsheetId(), `${stream.name}!A2:B`, options)
    return values.map(([brandId, day]) => ({ brandId, day }))
  }

  /** Appends rows and removes others, all or nothing. */
  const replace = (isReplaced, rows) => {
    keys ??= readKeys()
    const marks = keys.map(isReplaced)
    const ranges = rangesOf(marks)
    if (ranges.length === 0 && rows.length === 0) return
    const kept = keys.filter((_, index) => !marks[index])
    const cells = (rows.length + kept.length - keys.length) * stream.columns.length
    requireRoom(cells)
    const requests = []
    if (rows.length > 0) {
      const added = rows.map((row) => ({ values: stream.columns.map((column) => cellOf(column, row)) }))
      const fields = 'userEnteredValue,userEnteredFormat.numberFormat'
      requests.push({ appendCells: { sheetId, rows: added, fields } })
    } else if (kept.length === 0) {
      // Sheets does not remove the last row below a frozen one.
      requests.push({ appendDimension: { sheetId, dimension: 'ROWS', length: 1 } })
    }
    // From the last range on: the earlier ones keep their places.
    for (const { startIndex, endIndex } of ranges.reverse())
      requests.push({ deleteDimension: { range: { sheetId, dimension: 'ROWS', startIndex, endIndex } } })
    update(requests)
    usedCells += cells
    const [first, second] = stream.columns
    keys = [
      ...kept,
      ...rows.map((row) => ({ brandId: row[first.field], day: toValue(second, row[second.field]) })),
    ]
  }

  return {
    replaceAll: (rows) => replace(() => true, rows),
    replaceDays: ({ brandId, from, to, rows }) => {
      const [first, last] = [serialOf(from), serialOf(to)]
      replace((key) => key.brandId === brandId && key.day >= first && key.day <= last, rows)
    },
  }
}

/** Joins adjacent rows that are marked to ranges of a sheet, below its first row. */
function rangesOf(marks) {
  const ranges = []
  marks.forEach((isMarked, row) => {
    if (!isMarked) return
    const last = ranges[ranges.length - 1]
    if (last?.endIndex === row + 1) last.endIndex++
    else ranges.push({ startIndex: row + 1, endIndex: row + 2 })
  })
  return ranges
}

/** Creates the sheet of a stream. Returns its title and its identifier. */
function createSheet({ name, columns }) {
  requireRoom(2 * columns.length)
  usedCells += 2 * columns.length
  const gridProperties = { rowCount: 2, columnCount: columns.length, frozenRowCount: 1 }
  const sheetId = Math.floor(Math.random() * 2 ** 31)
  const values = columns.map((column) => ({ userEnteredValue: { stringValue: column.name } }))
  // A sheet never lacks its names: both or none.
  update([
    { addSheet: { properties: { sheetId, title: name, gridProperties } } },
    { appendCells: { sheetId, rows: [{ values }], fields: 'userEnteredValue' } },
  ])
  return { title: name, sheetId }
}

/** Throws when the spreadsheet has no room for more cells. */
function requireRoom(cells) {
  const needed = usedCells + cells
  if (needed <= MAX_CELLS) return
  throw new Error(
    `The data needs ${needed} cells, and a spreadsheet has at most ${MAX_CELLS}. ` +
      'Choose "Set up…" with a later start date or with fewer brands, in a new spreadsheet.',
  )
}

/** Counts the cells of listed days. */
const cellsOf = (days) =>
  days.reduce((sum, { endpoint, rows }) => {
    const { columns } = STREAMS.find((stream) => stream.endpoint === endpoint)
    return sum + rows * columns.length
  }, 0)

function readSheets() {
  const { sheets } = Sheets.Spreadsheets.get(spreadsheetId(), { fields: 'sheets.properties' })
  // A sheet that is a chart has no grid.
  return sheets.map(({ properties }) => ({
    ...properties,
    rowCount: 0,
    columnCount: 0,
    ...properties.gridProperties,
  }))
}

// A user has 60 writes a minute.
const WRITE_EVERY_MS = 1100
let lastWrite = 0

function update(requests) {
  const pause = lastWrite + WRITE_EVERY_MS - Date.now()
  if (pause > 0) Utilities.sleep(pause)
  lastWrite = Date.now()
  Sheets.Spreadsheets.batchUpdate({ requests }, spreadsheetId())
}

const spreadsheetId = () => SpreadsheetApp.getActive().getId()

/** Returns a cell of a type. Text is never read as a formula or a date. */
function cellOf(column, row) {
  const value = toValue(column, row[column.field])
  if (value === null) return {}
  const userEnteredValue = {
    [{ string: 'stringValue', number: 'numberValue', boolean: 'boolValue' }[typeof value]]: value,
  }
  const numberFormat = FORMATS[column.type]
  return numberFormat ? { userEnteredValue, userEnteredFormat: { numberFormat } } : { userEnteredValue }
}

function toValue({ type }, value) {
  return value !== null && type in FORMATS ? serialOf(value) : value
}

/** Returns a day or a time in UTC as Sheets counts it: in days since 1899-12-30, whatever the spreadsheet's time zone. */
const serialOf = (time) => Date.parse(time) / 86_400_000 + 25_569
