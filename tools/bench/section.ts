import type { Chart } from './chart.ts'

/** What a section is told. */
export type Setting = {
  /** The server on which it makes databases of its own. */
  readonly serverUrl: string
  /** A volume of the full size as this run wants it. */
  readonly sized: (full: number) => number
  /** Hears what is going on. */
  readonly tell: (what: string) => void
}

/** A table as it is printed; numbers are ratios unless their column says otherwise. */
export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  readonly note?: string
  /** What `--svg` draws of it. */
  readonly chart?: Chart
}

/** One subject of the benchmark: a file of `sections/` that exports it as `section`. */
export type Section = (setting: Setting) => Promise<Table[]>
