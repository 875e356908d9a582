import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DocumentedWorker, Operation } from '../../lib/page/operation.ts'
import type { NamedOperation } from '../../site/reference/openapi/days.ts'
import { readWorkers } from './wrangler-config.ts'

const FUNCTIONS = new URL('../../functions/', import.meta.url)

/** An endpoint of functions/, named after its file, and what its module exports. */
type Found = DocumentedWorker & { readonly name: string; readonly module: Record<string, unknown> }

/** Imports functions/ and returns the endpoints that it declares. */
export async function findWorkers(): Promise<Found[]> {
  const files = (await readdir(FUNCTIONS)).filter((file) => file.endsWith('.ts')).sort()
  const found = await Promise.all(
    files.map(async (file): Promise<Found[]> => {
      const module: Record<string, unknown> = await import(new URL(file, FUNCTIONS).href)
      const worker = module.default
      return isDocumentedWorker(worker) ? [{ ...worker, name: basename(file, '.ts'), module }] : []
    }),
  )
  return found.flat()
}

/** The operations of all Workers, in the order of wrangler.toml. */
export async function findOperations(): Promise<NamedOperation[]> {
  const order = (await readWorkers()).map(({ name }) => name)
  return (await findWorkers())
    .sort((left, right) => order.indexOf(left.name) - order.indexOf(right.name))
    .map(({ operation, module }) => named(operation, module))
}

function named(operation: Operation, module: Record<string, unknown>): NamedOperation {
  const found = Object.entries(module).find(([, exported]) => exported === operation.row)
  if (found === undefined) throw new Error(`functions${operation.path}.ts does not export its row`)
  return { ...operation, rowName: found[0] }
}

const isDocumentedWorker = (worker: unknown): worker is DocumentedWorker =>
  typeof worker === 'object' && worker !== null && 'operation' in worker
