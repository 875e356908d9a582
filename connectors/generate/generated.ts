/** Generated text of a connector: a file, or a named block in a file that is otherwise written by hand. */
export type Generated = {
  /** Path of the file, from `connectors/`. */
  readonly path: string
  readonly text: string
  /** The lines between the one that contains `<generated NAME>` and the one that contains `</generated NAME>`. */
  readonly block?: string
}
