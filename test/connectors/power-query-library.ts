import { isFunction, lazy, RecordValue, raise, record, type Thunk, type Value } from './power-query.ts'

// Stands in for the functions of Power Query's library that connectors/powerbi uses.

/** A table. Its cells are computed when they are read. */
export class Table {
  readonly columns: readonly string[]
  readonly rows: readonly RecordValue[]
  readonly key: readonly string[]
  constructor(columns: readonly string[], rows: readonly RecordValue[], key: readonly string[] = []) {
    this.columns = columns
    this.rows = rows
    this.key = key
  }
}

class Response {
  readonly status: number
  readonly headers: RecordValue
  readonly text: string
  isRead = false
  constructor(status: number, headers: RecordValue, text: string) {
    this.status = status
    this.headers = headers
    this.text = text
  }
}

export type Network = {
  readonly key: string
  /** Sends a request. */
  readonly send: (url: URL, headers: Readonly<Record<string, string>>) => Promise<globalThis.Response>
  /** Waits; receives milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>
}

const fail = (what: string): never => {
  throw new Error(`The stand-in of Power Query does not take ${what}.`)
}
const asList = (value: Value): Thunk[] => (Array.isArray(value) ? value : fail('this as a list'))
const asRecord = (value: Value): RecordValue =>
  value instanceof RecordValue ? value : fail('this as a record')
export const asTable = (value: Value): Table => (value instanceof Table ? value : fail('this as a table'))
const asResponse = (value: Value): Response =>
  value instanceof Response ? value : fail('this as a response')
export const invoke = async (value: Value, ...values: Value[]): Promise<Value> =>
  isFunction(value) ? value(...values) : fail('this as a function')
const itemsOf = (value: Value): Promise<Value[]> => Promise.all(asList(value).map((item) => item()))
const toList = (values: readonly Value[]): Thunk[] => values.map((value) => async () => value)

export async function fieldsOf(value: Value): Promise<Record<string, Value>> {
  const fields: Record<string, Value> = {}
  for (const [name, thunk] of asRecord(value)) fields[name] = await thunk()
  return fields
}

/** Turns JSON into values of the language. */
function fromJson(json: unknown): Value {
  if (Array.isArray(json)) return toList(json.map(fromJson))
  if (typeof json !== 'object' || json === null) return json
  return record(Object.fromEntries(Object.entries(json).map(([name, value]) => [name, fromJson(value)])))
}

/** Converts a value of JSON to a column's type. Throws when it does not fit. */
function convert(value: Value, type: string): Value {
  const fits: Readonly<Record<string, (value: Value) => boolean>> = {
    'type text': (value) => typeof value === 'string',
    'type logical': (value) => typeof value === 'boolean',
    'type date': (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
    'type datetimezone': (value) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)),
    'Int64.Type': (value) => Number.isInteger(value),
    'Currency.Type': (value) => typeof value === 'number',
  }
  if (value === null || fits[type]?.(value)) return value
  return raise('DataFormat.Error', `${String(value)} is no ${type}.`)
}

/** Returns the library over a network. */
export const libraryOf = ({ key, send, wait }: Network): Readonly<Record<string, Value>> => ({
  'Uri.Type': 'type text',
  'Int64.Type': 'Int64.Type',
  'Currency.Type': 'Currency.Type',
  'MissingField.Error': 'MissingField.Error',
  'Credential.AccessDenied': 'AccessDenied',
  '#duration': (days: Value, hours: Value, minutes: Value, seconds: Value) =>
    (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000,
  '#table': async (columns: Value, rows: Value) => {
    const names = (await itemsOf(columns)).map(String)
    const cells = await itemsOf(rows)
    return new Table(
      names,
      cells.map((row) => {
        const items = asList(row)
        if (items.length !== names.length)
          return raise('Expression.Error', 'The rows do not match the columns.')
        return new RecordValue(names.map((name, index) => [name, items[index] ?? fail('a short row')]))
      }),
    )
  },
  'Value.ReplaceType': (value: Value) => value,
  'Value.Type': () => null,
  'Value.Metadata': (value: Value) => {
    const response = asResponse(value)
    if (!response.isRead) return fail('metadata before the content: Power Query would send the request twice')
    return record({ 'Response.Status': response.status, Headers: response.headers })
  },
  'Extension.CurrentCredential': () => record({ AuthenticationKind: 'Key', Key: key }),
  'Extension.CredentialError': (reason: Value, message: Value) =>
    record({ Reason: reason, Message: message }),
  'Error.Record': (reason: Value, message: Value, detail: Value) =>
    record({ Reason: reason, Message: message, Detail: detail }),
  'Web.Contents': async (url: Value, options: Value) => {
    const { RelativePath, Query, Headers, ManualStatusHandling } = await fieldsOf(options)
    const target = new URL(`${String(url).replace(/\/$/, '')}/${String(RelativePath)}`)
    for (const [name, value] of Object.entries(await fieldsOf(Query)))
      target.searchParams.set(name, String(value))
    const headers = Object.entries(await fieldsOf(Headers)).map(([name, value]) => [name, String(value)])
    const response = await send(target, Object.fromEntries(headers)).catch((error) =>
      raise('DataSource.Error', `We couldn't connect: ${error}`),
    )
    if (!response.ok && !(await itemsOf(ManualStatusHandling)).includes(response.status))
      return raise('DataSource.Error', `Web.Contents failed (${response.status})`)
    // .NET writes the names of headers as the standard does.
    const received = [...response.headers].map(([name, value]) => [
      name.replace(/\b[a-z]/g, (a) => a.toUpperCase()),
      value,
    ])
    return new Response(response.status, record(Object.fromEntries(received)), await response.text())
  },
  'Binary.Buffer': (value: Value) => {
    const response = asResponse(value)
    response.isRead = true
    return response.text
  },
  'Json.Document': (value: Value) => {
    try {
      return fromJson(JSON.parse(String(value)))
    } catch {
      return raise('DataFormat.Error', 'We found extra characters at the end of JSON input.')
    }
  },
  'Function.InvokeAfter': async (action: Value, ms: Value) => {
    await wait(Number(ms))
    return invoke(action)
  },
  'Number.From': (value: Value) => Number(value),
  'Text.From': (value: Value) => String(value),
  'Date.From': (value: Value) => value,
  'Date.ToText': (value: Value) =>
    value instanceof Date ? value.toISOString().slice(0, 10) : fail('this as a date'),
  'Record.FieldOrDefault': (value: Value, name: Value, otherwise: Value) =>
    asRecord(value).get(String(name))?.() ?? otherwise,
  'List.Transform': (list: Value, transform: Value) =>
    asList(list).map((item) => lazy(async () => invoke(transform, await item()))),
  'List.Select': async (list: Value, isSelected: Value) => {
    const selected: Value[] = []
    for (const item of await itemsOf(list)) if (await invoke(isSelected, item)) selected.push(item)
    return toList(selected)
  },
  'List.Contains': async (list: Value, value: Value) => (await itemsOf(list)).includes(value),
  'List.Last': async (list: Value) => asList(list).at(-1)?.() ?? null,
  'List.Combine': async (lists: Value) => (await itemsOf(lists)).flatMap(asList),
  'List.Generate': async (initial: Value, goesOn: Value, next: Value, select: Value) => {
    const items: Thunk[] = []
    for (let state = await invoke(initial); await invoke(goesOn, state); state = await invoke(next, state)) {
      const current = state
      items.push(lazy(() => invoke(select, current)))
    }
    return items
  },
  'Table.FromRecords': async (records: Value, columns: Value) => {
    const names = (await itemsOf(columns)).map(String)
    const rows = (await itemsOf(records)).map((row) => {
      const fields = asRecord(row)
      const cells = names.map((name): [string, Thunk] => [
        name,
        fields.get(name) ??
          (() => raise('Expression.Error', `The field '${name}' of the record wasn't found.`)),
      ])
      return new RecordValue(cells)
    })
    return new Table(names, rows)
  },
  'Table.ToRecords': (table: Value) => toList(asTable(table).rows),
  'Table.RenameColumns': async (value: Value, renames: Value) => {
    const table = asTable(value)
    const pairs = await Promise.all((await itemsOf(renames)).map(itemsOf))
    const to = new Map(pairs.map(([from, to]) => [String(from), String(to)]))
    for (const from of to.keys())
      if (!table.columns.includes(from)) return raise('Expression.Error', `No column ${from}`)
    const rename = (name: string) => to.get(name) ?? name
    return new Table(
      table.columns.map(rename),
      table.rows.map((row) => new RecordValue([...row].map(([name, cell]) => [rename(name), cell]))),
    )
  },
  'Table.TransformColumnTypes': async (value: Value, transforms: Value) => {
    const table = asTable(value)
    const pairs = await Promise.all((await itemsOf(transforms)).map(itemsOf))
    const types = new Map(pairs.map(([name, type]) => [String(name), String(type)]))
    const rows = table.rows.map(
      (row) =>
        new RecordValue(
          [...row].map(([name, cell]) => [
            name,
            lazy(async () => convert(await cell(), types.get(name) ?? '')),
          ]),
        ),
    )
    return new Table(table.columns, rows)
  },
  'Table.AddKey': async (value: Value, columns: Value) => {
    const table = asTable(value)
    const key = (await itemsOf(columns)).map(String)
    for (const name of key)
      if (!table.columns.includes(name)) return raise('Expression.Error', `No column ${name}`)
    return new Table(table.columns, table.rows, key)
  },
  'Table.AddColumn': (value: Value, name: Value, generate: Value) => {
    const table = asTable(value)
    const rows = table.rows.map(
      (row) => new RecordValue([...row, [String(name), lazy(() => invoke(generate, row))]]),
    )
    return new Table([...table.columns, String(name)], rows)
  },
})
