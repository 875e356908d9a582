import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { environment } from '../python-environment.ts'

/** Variables with which Python's default encoding of files is not UTF-8, as on Windows. */
export const IN_ASCII = { LC_ALL: 'C', PYTHONUTF8: '0', PYTHONCOERCECLOCALE: '0' } as const

/** The folder of the tests that connectors in Python have in common. */
export const PYTHON_TESTS = fileURLToPath(new URL('python', import.meta.url))

type Program = {
  /** The engine in whose environment it runs. */
  readonly engine: string
  readonly file: URL
  /** Its standard input, as JSON. */
  readonly input: unknown
  readonly options?: SpawnOptionsWithoutStdio
}

/** Runs a Python program. Returns the JSON that it prints. Rejects with its errors when it prints none. */
export async function runPython({ engine, file, input, options = {} }: Program): Promise<unknown> {
  const script = fileURLToPath(file)
  const python = spawn(join(await environment(engine), 'python'), [script], options)
  const errors = text(python.stderr)
  python.stdin.end(JSON.stringify(input))
  return json(python.stdout).catch(async () => {
    throw new Error(await errors)
  })
}
