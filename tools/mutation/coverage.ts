import { afterEach, beforeEach, inject } from 'vitest'
import { HIT_LIMIT, LOADED, REACHED } from './workers.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The active mutant; empty in the dry run. */
    mutant: string
  }
  interface TaskMeta {
    /** The mutants that a test reached, in Workers and in this process. */
    reached?: readonly string[]
    /** Those of them that Workers reached when they were loaded. */
    loaded?: readonly string[]
  }
}

// Vitest runs this file before a test imports anything from lib/.
const here: Record<string, number> = {}
Object.assign(globalThis, {
  __stryker__: {
    activeMutant: inject('mutant'),
    hitCount: 0,
    hitLimit: HIT_LIMIT,
    mutantCoverage: { static: here, perTest: {} },
  },
})

if (inject('mutant') === '') {
  let reached = new Set<string>()
  let loaded = new Set<string>()
  const send = globalThis.fetch
  globalThis.fetch = async (...request) => {
    const response = await send(...request)
    const headers = new Headers(response.headers)
    for (const id of listed(headers, LOADED)) loaded.add(id)
    for (const id of listed(headers, REACHED)) reached.add(id)
    return Object.defineProperty(response, 'headers', { value: headers })
  }
  const takeHere = () => {
    const ids = Object.keys(here)
    for (const id of ids) delete here[id]
    return ids
  }
  // What a file reaches while it is imported and prepared belongs to all of its tests.
  const shared = new Set<string>()
  beforeEach(() => {
    for (const id of [...takeHere(), ...reached]) shared.add(id)
    reached = new Set()
  })
  afterEach(({ task }) => {
    task.meta.reached = [...new Set([...shared, ...takeHere(), ...reached, ...loaded])]
    task.meta.loaded = [...loaded]
    reached = new Set()
    loaded = new Set()
  })
}

/** Returns the ids of a header, and removes it: tests expect the service's own headers. */
function listed(headers: Headers, name: string): string[] {
  const ids = headers.get(name)
  headers.delete(name)
  return ids ? ids.split(',') : []
}
