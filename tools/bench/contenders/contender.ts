import type { Ask } from '../drive.ts'
import type { Million, Row } from '../million.ts'
import type { Server } from '../processes.ts'

/** What all contenders are asked for: pages of one brand's year, the first and a deep one. */
export type Contest = Pick<Million, 'brandId' | 'depth'> & {
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly key: string
  /** The row ahead of the deep page. */
  readonly before: Row
}

/** A server that is up, and how it is asked for either page. */
export type Running = {
  readonly server: Server
  readonly first: Ask
  readonly deep: Ask
  /** The rows of a parsed body. */
  readonly rowsOf: (body: unknown) => readonly Record<string, unknown>[]
  /** A program that counts as the server where its process started several; the rest is told apart. */
  readonly program?: string
  /** Whether it counts in Redis; what else runs there is not its. */
  readonly counts?: true
}

/** A server to compare. */
export type Contender = {
  readonly name: string
  readonly start: (contest: Contest) => Promise<Running>
}

/** A part of a parsed body, whatever it is. */
export function at(body: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    body,
  )
}

/** What should be a list of rows. */
export const rowsIn = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value : []
