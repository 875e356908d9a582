import { readdir } from 'node:fs/promises'
import type { Described, Operation } from '../../lib/operation.ts'

/** A Worker that describes itself, under the name of its file. */
export type Endpoint = Operation & { readonly name: string }

const FUNCTIONS = new URL('../../functions/', import.meta.url)

/** Every Worker that describes itself: found by reading the folder, so that a new one is tested without being listed. */
export async function findEndpoints(): Promise<Endpoint[]> {
  const files = (await readdir(FUNCTIONS)).filter((file) => file.endsWith('.ts')).sort()
  const found = await Promise.all(
    files.map(async (file) => {
      const module: { default: unknown } = await import(new URL(file, FUNCTIONS).href)
      return isDescribed(module.default) ? [{ ...module.default.operation, name: file.slice(0, -3) }] : []
    }),
  )
  return found.flat()
}

const isDescribed = (worker: unknown): worker is Described =>
  typeof worker === 'object' && worker !== null && 'operation' in worker
