import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import type { NamedOperation } from '../lib/openapi.ts'
import type { Described, Operation } from '../lib/operation.ts'

const FUNCTIONS = new URL('../functions/', import.meta.url)

/** What every Worker in functions/ says of itself, the brands listing first, then by path. */
export async function findOperations(): Promise<NamedOperation[]> {
  const files = (await readdir(FUNCTIONS)).filter((file) => file.endsWith('.ts'))
  const modules: Record<string, unknown>[] = await Promise.all(
    files.sort().map((file) => import(new URL(basename(file), FUNCTIONS).href)),
  )
  return modules
    .flatMap((module) => (isDescribed(module.default) ? [named(module.default.operation, module)] : []))
    .sort((left, right) => Number(left.paged) - Number(right.paged))
}

function named(operation: Operation, module: Record<string, unknown>): NamedOperation {
  const found = Object.entries(module).find(([, exported]) => exported === operation.row)
  if (found === undefined) throw new Error(`functions${operation.path}.ts does not export its row`)
  return { ...operation, rowName: found[0] }
}

const isDescribed = (worker: unknown): worker is Described =>
  typeof worker === 'object' && worker !== null && 'operation' in worker
