import { findWorkers } from '../../bundle/find-workers.ts'
import type { Operation } from '../../lib/operation.ts'

/** A Worker that describes itself, under the name of its file. */
export type Endpoint = Operation & { readonly name: string }

/** Every Worker that describes itself, so that a new one is tested without being listed. */
export async function findEndpoints(): Promise<Endpoint[]> {
  return (await findWorkers()).map(({ name, operation }) => ({ ...operation, name }))
}
