const SETTINGS = {
  baseUrl: 'Address of the service, such as https://api.example.com',
  apiKey: 'API key. It is stored for your account only.',
  brandId: 'Identifier of the brand',
  fromDate: 'First day, as YYYY-MM-DD. Empty: 30 days ago.',
  toDate: 'Last day, as YYYY-MM-DD. Empty: today.',
}
const FORMATS = { date: 'yyyy-mm-dd', 'date-time': 'yyyy-mm-dd hh:mm:ss' }

function onOpen() {
  const menu = SpreadsheetApp.getUi().createMenu('Export API')
  menu.addItem('Set up…', 'setUp').addItem('Reload', 'reload').addToUi()
}

/** Asks for the settings, and stores them when all are answered. */
function setUp() {
  const ui = SpreadsheetApp.getUi()
  const answers = []
  for (const [name, question] of Object.entries(SETTINGS)) {
    const answer = ui.prompt('Export API', question, ui.ButtonSet.OK_CANCEL)
    if (answer.getSelectedButton() !== ui.Button.OK) return
    answers.push([name, answer.getResponseText().trim()])
  }
  const settings = Object.fromEntries(answers)
  Object.assign(settings, toConnection(settings.baseUrl, settings.apiKey))
  for (const [name, text] of Object.entries(settings)) propertiesOf(name).setProperty(name, text)
}

// Every editor can read and write the document's properties. The key, and the address that receives it, are the user's.
const propertiesOf = (name) =>
  name === 'apiKey' || name === 'baseUrl'
    ? PropertiesService.getUserProperties()
    : PropertiesService.getDocumentProperties()

/** Replaces the rows of each sheet with those of the window. Throws while another editor's reload runs. */
function reload() {
  const lock = LockService.getDocumentLock()
  if (!lock.tryLock(10_000))
    throw new Error('Another reload of this spreadsheet runs. Try again when it has ended.')
  try {
    loadSheets()
  } finally {
    lock.releaseLock()
  }
}

function loadSheets() {
  const [baseUrl, apiKey, brandId, fromDate, toDate] = Object.keys(SETTINGS).map((name) =>
    propertiesOf(name).getProperty(name),
  )
  if (!baseUrl || !apiKey) throw new Error('Choose "Set up…" in the menu "Export API" first.')
  const connection = { baseUrl, apiKey }
  for (const endpoint of getEndpoints(connection))
    write(endpoint, getRows(connection, endpoint, { brandId, fromDate, toDate }, toCell))
  // Writes are buffered, and another reload may begin.
  SpreadsheetApp.flush()
  SpreadsheetApp.getActive().toast('All sheets are loaded.', 'Export API')
}

// The apostrophe makes a cell text: Sheets would take "=…" for a formula, and "007" for a number.
function toCell(type, text) {
  if (type === 'integer' || type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  // Days since 1899-12-30 do not depend on the spreadsheet's time zone.
  if (type in FORMATS) return Date.parse(text) / 86_400_000 + 25_569
  return `'${text}`
}

/** Writes a table in one call, with empty cells over what is left of the previous one. */
function write({ id, fields }, rows) {
  const book = SpreadsheetApp.getActive()
  const sheet = book.getSheetByName(id) ?? book.insertSheet(id)
  const table = [fields.map(({ name }) => name), ...rows.map((row) => row.map((cell) => cell ?? ''))]
  const blanks = Array(Math.max(0, sheet.getLastRow() - table.length)).fill(fields.map(() => ''))
  const missing = table.length - sheet.getMaxRows()
  if (missing > 0) sheet.insertRowsAfter(sheet.getMaxRows(), missing)
  sheet.getRange(1, 1, table.length + blanks.length, fields.length).setValues([...table, ...blanks])
  fields.forEach(({ type }, index) => {
    if (type in FORMATS) sheet.getRange(1, index + 1, sheet.getMaxRows()).setNumberFormat(FORMATS[type])
  })
  sheet.setFrozenRows(1)
}
