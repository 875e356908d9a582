import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'

/** The header by which a switchable Worker is told which mutant is active, and asked what was reached. */
export const SWITCH = 'X-Mutation'

/** Hits of the active mutant after which a loop that it has made endless is broken off. */
export const HITS = 5_000_000

/** What a Worker says of the mutants since it was last asked: those met while it was loaded, those met by requests. */
export type Reached = { readonly requests: number; readonly loaded: string[]; readonly hit: string[] }

/**
 * The Workers of a folder, with a switch before each. A Worker is loaded anew for each mutant, inside its isolate: what is
 * made once, while a module is loaded, is made by the mutant too. Gives the function that writes them with one active.
 */
export async function switchable(dist: string): Promise<(mutant: string) => Promise<void>> {
  const files = (await readdir(dist)).filter((file) => file.endsWith('.js'))
  const workers = await Promise.all(
    files.map(async (file) => {
      const module = await readFile(join(dist, file), 'utf8')
      const { code } = await transform(module, { format: 'iife', globalName: 'loaded', target: 'es2024' })
      return { path: join(dist, file), code: withSwitch(code) }
    }),
  )
  return async (mutant) => {
    const first = `let active = ${JSON.stringify(mutant)}\n`
    await Promise.all(workers.map(({ path, code }) => writeFile(path, first + code)))
  }
}

const withSwitch = (code: string): string => `
const mutation = (globalThis.__stryker__ = { mutantCoverage: { static: {}, perTest: {} } })
let worker, requests = 0, whileLoading = []

function reached() {
  const met = mutation.mutantCoverage.static
  const ids = Object.keys(met)
  for (const id of ids) delete met[id]
  return ids
}

function load() {
  Object.assign(mutation, { activeMutant: active, hitCount: 0, hitLimit: ${HITS} })
  ${code}
  whileLoading = reached()
  return loaded.default
}

export default {
  async fetch(request, env, context) {
    const told = request.headers.get('${SWITCH}')
    if (told === null) {
      requests += 1
      return (worker ??= load()).fetch(request, env, context)
    }
    const answer = Response.json({ requests, loaded: whileLoading, hit: reached() })
    requests = 0
    if (told !== active) {
      active = told
      worker = undefined
    }
    return answer
  },
  scheduled: (event, env, context) => (worker ??= load()).scheduled(event, env, context),
}
`
