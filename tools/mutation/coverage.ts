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
  }
}

// Vitest runs this file before a test imports anything from lib/.
const hits: Record<string, number> = {}
const mutantCoverage = { static: hits, perTest: {} }
Object.assign(globalThis, {
  __stryker__: { activeMutant: inject('mutant'), hitCount: 0, hitLimit: HIT_LIMIT, mutantCoverage },
})

if (inject('mutant') === '') {
  const send = globalThis.fetch
  globalThis.fetch = async (...request) => {
    const response = await send(...request)
    const headers = new Headers(response.headers)
    for (const name of [LOADED, REACHED]) {
      for (const id of headers.get(name)?.match(/\d+/g) ?? []) hits[id] = 1
      // Tests expect the service's own headers.
      headers.delete(name)
    }
    return Object.defineProperty(response, 'headers', { value: headers })
  }
  const takeHits = () => {
    const ids = Object.keys(hits)
    for (const id of ids) delete hits[id]
    return ids
  }
  // What a file reaches while it is imported and prepared belongs to all of its tests.
  const shared = new Set<string>()
  beforeEach(() => {
    for (const id of takeHits()) shared.add(id)
  })
  afterEach(({ task }) => {
    task.meta.reached = [...new Set([...shared, ...takeHits()])]
  })
}
