import http from 'node:http'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { ExportApiError } from '../src/index.ts'
import { nameOptions } from './api.ts'
import { CommandError, describeSystemError, isSystemError } from './errors.ts'
import { createProgress, type Progress } from './progress.ts'
import { forTerminal } from './text.ts'

type Command = {
  readonly quiet?: boolean | undefined
  /** Where it reads or writes files. */
  readonly location: string
  /** What a person should know who stops it. */
  readonly whenStopped?: string
  readonly work: (progress: Progress) => Promise<void>
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs a command. The exit code is 0, 1 when the copy differs, 2 when the work could not be done, 64 for wrong usage,
 * and that of a shell for a signal.
 */
export async function run({ quiet = false, location, whenStopped = '', work }: Command): Promise<void> {
  // By default, V8 lets the heap grow to ten times what is in use before it collects rows that are no longer needed. It
  // is a setting of work: help and wrong usage exit while V8 still compiles.
  setFlagsFromString('--optimize-for-size')
  const progress = createProgress({ quiet })
  useProxy(progress)
  for (const [signal, exitCode] of Object.entries(SIGNALS))
    process.once(signal, () => {
      progress.stop()
      progress.notice('stopped', `Stopped. ${whenStopped}`.trim(), { signal }, 'warn')
      process.exit(exitCode)
    })
  try {
    await work(progress).finally(progress.stop)
  } catch (error) {
    process.exitCode = error instanceof CommandError ? error.exitCode : 2
    const message = describe(error, location)
    progress.fail(message ?? String(error), process.exitCode)
    const lines = message === undefined ? inspect(error).split('\n') : [message]
    console.error(lines.map((line) => forTerminal(line, process.stderr.columns)).join('\n'))
  }
}

/** Returns the sentence of an expected error; undefined for another one, of which all is printed. */
function describe(error: unknown, location: string): string | undefined {
  if (error instanceof ExportApiError) {
    const request = error.requestId === undefined ? '' : ` (request ${error.requestId})`
    return nameOptions(error.message) + request
  }
  if (isSystemError(error)) return describeSystemError(error, location)
  return error instanceof CommandError ? error.message : undefined
}

const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/** Sends requests through the proxy that the environment names, except those to this machine. */
function useProxy(progress: Progress): void {
  const { env, version } = process
  const name = VARIABLES.find((variable) => env[variable])
  if (name === undefined) return
  const direct = [env.no_proxy ?? env.NO_PROXY ?? [], 'localhost', '127.0.0.1', '::1'].flat()
  // Missing before Node 24.14.
  if ('setGlobalProxyFromEnv' in http) http.setGlobalProxyFromEnv({ ...env, no_proxy: direct.join() })
  else if (env.NODE_USE_ENV_PROXY !== '1')
    progress.notice('proxy', `Node ${version} ignores ${name}. Use Node 24.14 or later.`, {}, 'warn')
}
