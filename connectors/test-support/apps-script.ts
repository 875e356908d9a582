import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'

type Response = {
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Functions of a script, by name. */
type Script = { readonly [name: string]: <Result>(argument?: unknown) => Result }

// Apps Script waits for a response, so another process sends the request.
const FETCH = `
const response = await fetch(process.argv[1], JSON.parse(process.argv[2]))
const { status, headers } = response
console.log(JSON.stringify({ status, headers: Object.fromEntries(headers), text: await response.text() }))`

function send(url: string, options: object): Response {
  const input = ['--input-type=module', '-e', FETCH, url, JSON.stringify(options)]
  return JSON.parse(execFileSync(process.execPath, input, { encoding: 'utf8', maxBuffer: 2 ** 26 }))
}

/** Runs the script of a folder with the client of the API in Node, over imitations of the functions of Google that it calls. */
export function runScript(folder: string, services: Readonly<Record<string, unknown>>) {
  /** Answers that come before those of the service. */
  const queue: Response[] = []
  const sleeps: number[] = []
  /** Addresses and headers of the requests. */
  const requests: [url: string, headers: unknown][] = []
  const documentProperties = properties()
  const globals = {
    ...services,
    UrlFetchApp: {
      fetch(
        url: string,
        options: { readonly followRedirects?: boolean; readonly headers?: unknown },
      ): object {
        requests.push([url, options.headers])
        const { status, text, headers = {} } = queue.shift() ?? send(url, options)
        const { followRedirects = true } = options
        if (headers.Location !== undefined && followRedirects) return this.fetch(headers.Location, options)
        return { getResponseCode: () => status, getContentText: () => text, getHeaders: () => headers }
      },
    },
    Utilities: { sleep: (ms: number) => sleeps.push(ms), parseCsv },
    PropertiesService: {
      getUserProperties: once(properties),
      getDocumentProperties: () => documentProperties,
    },
  }
  const code = ['sheets/Api.js', `${folder}/Code.js`]
    .map((path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
    .join('\n')
  const names = [...code.matchAll(/^function (\w+)/gm)].map(([, name]) => name)
  const start = runInThisContext(`(${Object.keys(globals)}) => {\n${code}\nreturn { ${names} }\n}`)
  const script: Script = start(...Object.values(globals))
  return { script, queue, sleeps, requests, documentProperties }
}

const once = <Value>(create: () => Value): (() => Value) => {
  const value = create()
  return () => value
}

function properties() {
  const values = new Map<string, string>()
  return {
    getProperty: (name: string) => values.get(name) ?? null,
    getProperties: () => Object.fromEntries(values),
    setProperty: (name: string, value: string) => values.set(name, value),
    setProperties: (all: Record<string, string>) => {
      for (const [name, value] of Object.entries(all)) values.set(name, value)
    },
    deleteAllProperties: () => values.clear(),
  }
}

/** Reads CSV, as Google does: an empty cell and an empty text are the same. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
