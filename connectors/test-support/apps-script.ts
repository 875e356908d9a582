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

/** Runs the script of a folder and the client of the API in Node. `services` imitate those of Google. */
export function runScript(folder: string, services: Readonly<Record<string, unknown>>) {
  /** Responses that come before those of the service. */
  const queue: Response[] = []
  const sleeps: number[] = []
  const requests: unknown[] = []
  const properties = new Map<string, unknown>()
  const stored = {
    getProperties: () => Object.fromEntries(properties),
    setProperty: (name: string, value: unknown) => properties.set(name, value),
    setProperties: (all: object) => Object.entries(all).map(([name, value]) => properties.set(name, value)),
    deleteAllProperties: () => properties.clear(),
  }
  function fetch(url: string, options: object) {
    requests.push({ url, ...options })
    const command = ['--input-type=module', '-e', FETCH, url, JSON.stringify(options)]
    const send = () => JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' }))
    const { status, text, headers = {} }: Response = queue.shift() ?? send()
    return { getResponseCode: () => status, getContentText: () => text, getHeaders: () => headers }
  }
  const globals = {
    ...services,
    UrlFetchApp: { fetch },
    Utilities: { sleep: (ms: number) => sleeps.push(ms) },
    PropertiesService: { getUserProperties: () => stored },
  }
  const code = ['sheets/Api.js', `${folder}/Code.js`]
    .map((path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
    .join('\n')
  const names = [...code.matchAll(/^function (\w+)/gm)].map(([, name]) => name)
  const start = runInThisContext(`(${Object.keys(globals)}) => {\n${code}\nreturn { ${names} }\n}`)
  const script: Script = start(...Object.values(globals))
  return { script, queue, sleeps, requests }
}
