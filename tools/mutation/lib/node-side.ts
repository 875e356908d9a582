import { afterEach, beforeEach, inject } from 'vitest'
import { HITS, type Reached, SWITCH } from './switch.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The mutant that is active; empty for none. */
    mutant: string
    /** Where the switchable Workers answer; none when nobody asks what is reached. */
    switches: readonly string[]
  }
  interface TaskMeta {
    /** The mutants that a test reached, in Workers and in this process. */
    reached?: readonly string[]
  }
}

// Before a test imports anything of lib/.
const met: Record<string, number> = {}
const mutation = {
  activeMutant: inject('mutant'),
  hitCount: 0,
  hitLimit: HITS,
  mutantCoverage: { static: met, perTest: {} },
}
Object.assign(globalThis, { __stryker__: mutation })

const switches = inject('switches')

async function reached(): Promise<string[]> {
  const here = Object.keys(met)
  for (const id of here) delete met[id]
  const there = await Promise.all(
    switches.map(async (url) => {
      const response = await fetch(url, { headers: { [SWITCH]: inject('mutant') } })
      const { requests, loaded, hit }: Reached = JSON.parse(await response.text())
      return requests > 0 ? [...loaded, ...hit] : []
    }),
  )
  return [...here, ...there.flat()]
}

if (switches.length > 0) {
  await reached()
  // What a file reaches while it is imported and prepared belongs to all of its tests.
  const shared = new Set<string>()
  beforeEach(async () => {
    for (const id of await reached()) shared.add(id)
  })
  afterEach(async ({ task }) => {
    task.meta.reached = [...new Set([...shared, ...(await reached())])]
  })
}
