import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'

/** The request header that activates a mutant. */
export const ACTIVATE = 'X-Mutant'

/** The response headers that list the mutants reached when the Worker was loaded, and those reached since. */
export const LOADED = 'X-Mutants-Loaded'
export const REACHED = 'X-Mutants-Reached'

/** Hits of the active mutant after which Stryker breaks an endless loop. */
export const HIT_LIMIT = 5_000_000

/**
 * Makes the Workers of a folder switch between mutants. Each Worker is evaluated again inside its isolate for every
 * mutant, because modules compute statements and schemas when they are loaded. Returns a function that writes the
 * Workers with one mutant active.
 */
export async function makeSwitchable(dist: string): Promise<(mutant: string) => Promise<void>> {
  const files = (await readdir(dist)).filter((file) => file.endsWith('.js'))
  const workers = await Promise.all(
    files.map(async (file) => {
      const path = join(dist, file)
      const options = { format: 'iife', globalName: 'bundled', target: 'es2024' } as const
      const { code } = await transform(await readFile(path, 'utf8'), options)
      return { path, code: switchable(code) }
    }),
  )
  return async (mutant) => {
    const active = `let active = ${JSON.stringify(mutant)}\n`
    await Promise.all(workers.map(({ path, code }) => writeFile(path, active + code)))
  }
}

const switchable = (code: string): string => `
const mutation = (globalThis.__stryker__ = { mutantCoverage: { static: {}, perTest: {} } })
let worker, loaded

function takeReached() {
  const ids = Object.keys(mutation.mutantCoverage.static)
  for (const id of ids) delete mutation.mutantCoverage.static[id]
  return ids.join()
}

function load() {
  Object.assign(mutation, { activeMutant: active, hitCount: 0, hitLimit: ${HIT_LIMIT} })
  ${code}
  loaded = takeReached()
  return bundled.default
}

export default {
  async fetch(request, env, context) {
    const next = request.headers.get('${ACTIVATE}')
    if (next !== null) {
      if (next !== active) worker = undefined
      active = next
      return new Response()
    }
    const response = await (worker ??= load()).fetch(request, env, context)
    if (active !== '') return response
    const traced = new Response(response.body, response)
    traced.headers.set('${LOADED}', loaded)
    traced.headers.set('${REACHED}', takeReached())
    return traced
  },
  scheduled: (event, env, context) => (worker ??= load()).scheduled(event, env, context),
}
`
