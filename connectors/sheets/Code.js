// A run of Apps Script ends after 6 minutes. The rest of it is for the last request and the last write.
const RUN_MS = 4 * 60_000
const RESUME_AFTER_MS = 60_000

const SETTINGS = [
  ['base_url', 'Address of the service, such as https://api.example.com'],
  ['api_key', 'API key. Other editors of this spreadsheet cannot read it.'],
  ['start_date', 'First day to load, as YYYY-MM-DD'],
  ['brand_ids', 'Identifiers of the brands to load, separated by commas. Empty: all brands.'],
]

function onOpen() {
  SpreadsheetApp.getUi()
    .createMenu('Export API')
    .addItem('Set up…', 'setUp')
    .addItem('Sync now', 'syncAll')
    .addItem('Sync every day', 'syncEveryDay')
    .addItem('Stop syncing', 'stopSyncing')
    .addToUi()
}

/** Asks for the settings, stores them when all are answered, and checks them with a request. */
function setUp() {
  const ui = SpreadsheetApp.getUi()
  const answers = []
  for (const [name, question] of SETTINGS) {
    const answer = ui.prompt('Export API', question, ui.ButtonSet.OK_CANCEL)
    if (answer.getSelectedButton() !== ui.Button.OK) return
    answers.push([name, answer.getResponseText().trim()])
  }
  // A run that is under way would store the tokens of the previous settings afterwards.
  const lock = LockService.getDocumentLock()
  if (!lock.tryLock(1000)) throw new Error('A sync is running. Choose "Set up…" again in a few minutes.')
  try {
    for (const [name, text] of answers) propertiesOf(name).setProperty(name, text)
    forgetTokens()
  } finally {
    lock.releaseLock()
  }
  const { data } = getJson(connect(Date.now() + RUN_MS), 'brands', {})
  ui.alert(`The key reads ${data.length} brands. Choose "Sync now" to load them.`)
}

/** Loads what changed. Goes on by a trigger when the time of the run is used up. */
function syncAll() {
  const lock = LockService.getDocumentLock()
  if (!lock.tryLock(1000)) return
  try {
    removeTriggers('resume')
    sync(Date.now() + RUN_MS)
  } finally {
    lock.releaseLock()
  }
}

/** Runs from the trigger of an interrupted run. */
function resume() {
  syncAll()
}

function syncEveryDay() {
  removeTriggers('syncAll')
  ScriptApp.newTrigger('syncAll').timeBased().everyDays(1).atHour(4).create()
}

function stopSyncing() {
  removeTriggers('syncAll')
  removeTriggers('resume')
}

function sync(deadline) {
  const connection = connect(deadline)
  const brandIds = setting('brand_ids').split(',').filter(Boolean)
  const progress = { windows: 0 }
  try {
    const table = openTables()
    const { data: brands } = getJson(connection, 'brands', {})
    table.brands.replaceAll(brands)
    for (const brandId of brandIds.length > 0 ? brandIds : brands.map(({ id }) => id))
      syncBrand({ connection, brandId: brandId.trim(), table, progress })
    SpreadsheetApp.getActive().toast('All changes are loaded.', 'Export API')
  } catch (error) {
    // Without progress the next run would end in the same way.
    if (!(error instanceof OutOfTimeError) || progress.windows === 0) throw error
    ScriptApp.newTrigger('resume').timeBased().after(RESUME_AFTER_MS).create()
    SpreadsheetApp.getActive().toast('More is loaded in a minute.', 'Export API')
  }
}

/**
 * Replaces the days that changed, until none is listed. A round that was interrupted goes on where it was: days through
 * `done` are loaded, unless they changed after `until`. The token is stored after the round.
 */
function syncBrand({ connection, brandId, table, progress }) {
  for (;;) {
    const { state, days, reach } = listChanges(connection, brandId)
    if (days.length === 0) return
    const latest = days[days.length - 1].changed_at
    const round = { done: '', until: latest, reach, ...state }
    const due = days.filter((day) => day.changed_at > round.until || dayKey(day) > round.done)
    if (state.token === undefined) requireRoom(cellsOf(due))
    for (const window of windowsOf(due)) {
      if (Date.now() > connection.deadline) throw new OutOfTimeError('The time of the run is used up.')
      replaceWindow({ connection, brandId, window, table: table[window.endpoint] })
      const key = dayKey({ endpoint: window.endpoint, date: window.to })
      if (key > round.done) round.done = key
      storeToken(brandId, round)
      progress.windows++
    }
    storeToken(brandId, { token: latest, reach })
  }
}

/**
 * Lists the days that changed since the token. Forgets the token and an interrupted round, and lists all days, when the
 * plan reaches further back than before.
 */
function listChanges(connection, brandId) {
  const state = JSON.parse(propertiesOf('token').getProperty(`token:${brandId}`) ?? '{}')
  const query = { brandId, fromDate: setting('start_date'), since: state.token }
  const days = []
  let from = ''
  for (const { data, meta } of pagesOf(connection, 'changes', query)) {
    days.push(...data)
    from = meta.fromDate
  }
  if (from < state.reach) {
    storeToken(brandId, {})
    return listChanges(connection, brandId)
  }
  return { state, days, reach: from }
}

/** Fetches a window and replaces its days, except those before the start that the plan allows. */
function replaceWindow({ connection, brandId, window: { endpoint, from, to }, table }) {
  const rows = []
  let start = from
  for (const { data, meta } of pagesOf(connection, endpoint, { brandId, fromDate: from, toDate: to })) {
    rows.push(...data.map((row) => ({ ...row, brand_id: brandId })))
    const allowed = meta.fromDate.slice(0, 10)
    if (allowed > start) start = allowed
  }
  table.replaceDays({ brandId, from: start, to, rows })
}

// A write of the Sheets service should stay below 2 MB.
const WINDOW_ROWS = 5000
const WINDOW_DAYS = 31

const dayKey = ({ endpoint, date }) => `${endpoint} ${date}`

/** Joins adjacent days of an endpoint to windows. A day with more rows than a window is a window of its own. */
function windowsOf(days) {
  const windows = []
  const inOrder = [...days].sort((a, b) => (dayKey(a) < dayKey(b) ? -1 : 1))
  for (const { endpoint, date, rows } of inOrder) {
    const last = windows[windows.length - 1]
    const follows = last?.endpoint === endpoint && serialOf(date) === serialOf(last.to) + 1
    if (follows && last.rows + rows <= WINDOW_ROWS && last.days < WINDOW_DAYS) {
      last.to = date
      last.rows += rows
      last.days++
    } else windows.push({ endpoint, from: date, to: date, rows, days: 1 })
  }
  return windows
}

/** Connects with the stored settings, until a time in milliseconds. */
function connect(deadline) {
  return { baseUrl: setting('base_url').replace(/\/$/, ''), apiKey: setting('api_key'), deadline }
}

function setting(name) {
  const value = propertiesOf(name).getProperty(name)
  if (value === null) throw new Error('Choose "Set up…" in the menu "Export API" first.')
  return value
}

// Every editor can read the document's properties: the key is a property of its user.
const propertiesOf = (name) =>
  name === 'api_key' ? PropertiesService.getUserProperties() : PropertiesService.getDocumentProperties()

const storeToken = (brandId, state) =>
  propertiesOf('token').setProperty(`token:${brandId}`, JSON.stringify(state))

/** Forgets what is loaded: the next run replaces every day. */
function forgetTokens() {
  const properties = propertiesOf('token')
  for (const name of properties.getKeys()) if (name.startsWith('token:')) properties.deleteProperty(name)
}

function removeTriggers(handler) {
  for (const trigger of ScriptApp.getProjectTriggers())
    if (trigger.getHandlerFunction() === handler) ScriptApp.deleteTrigger(trigger)
}
