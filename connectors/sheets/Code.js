const SETTINGS = {
  address: 'Address of the service, such as https://api.example.com',
  key: 'API key',
  brandId: 'Identifier of the brand',
  fromDate: 'First day, as YYYY-MM-DD. Empty: 30 days ago.',
  toDate: 'Last day, as YYYY-MM-DD. Empty: today.',
}
const FORMATS = { date: 'yyyy-mm-dd', 'date-time': 'yyyy-mm-dd hh:mm:ss' }

function onOpen() {
  const menu = SpreadsheetApp.getUi().createMenu('Export API')
  menu.addItem('Set up…', 'setUp').addItem('Reload', 'reload').addToUi()
}

/** Asks for the settings and stores them for this user: the document's properties are open to every editor. */
function setUp() {
  const ui = SpreadsheetApp.getUi()
  for (const [name, question] of Object.entries(SETTINGS)) {
    const answer = ui.prompt('Export API', question, ui.ButtonSet.OK_CANCEL)
    if (answer.getSelectedButton() !== ui.Button.OK) return
    PropertiesService.getUserProperties().setProperty(name, answer.getResponseText().trim())
  }
}

/** Replaces the rows of each sheet with those of the window. */
function reload() {
  // Waits for another editor's reload, until that script ends.
  LockService.getDocumentLock().waitLock(10_000)
  const { brandId, fromDate, toDate, ...connection } = PropertiesService.getUserProperties().getProperties()
  for (const endpoint of getEndpoints(connection))
    write(endpoint, getRows(connection, endpoint, { brandId, fromDate, toDate }, toCell))
}

/** Writes a table in one call, with empty cells over what is left of the previous one. */
function write({ id, fields }, rows) {
  const book = SpreadsheetApp.getActive()
  const sheet = book.getSheetByName(id) ?? book.insertSheet(id)
  const table = [fields.map(({ name }) => name), ...rows]
  while (table.length < sheet.getLastRow()) table.push(fields.map(() => ''))
  const last = sheet.getMaxRows()
  if (last < table.length) sheet.insertRowsAfter(last, table.length - last)
  sheet.getRange(1, 1, table.length, fields.length).setValues(table)
  for (const [index, { type }] of fields.entries())
    if (type in FORMATS) sheet.getRange(1, index + 1, table.length).setNumberFormat(FORMATS[type])
}

function toCell(type, value) {
  if (value === null || value === '') return ''
  // Days since 1899-12-30 do not depend on the spreadsheet's time zone.
  if (type in FORMATS) return Date.parse(value) / 86_400_000 + 25_569
  // The apostrophe makes a cell text: Sheets would take "=…" for a formula, and "007" for a number.
  return typeof value === 'string' ? `'${value}` : value
}
