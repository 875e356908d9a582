/** The options of `npm start`, which cli/commands.json describes. */
export type Options = {
  /** Reload the Workers when a source file changes: npm run dev. */
  readonly watch: boolean
  /** Delete the data of earlier starts. */
  readonly fresh: boolean
  /** List all demo keys. */
  readonly keys: boolean
  /** Print what Workers log as it is. */
  readonly json: boolean
  /** Let HOST be an address that other machines reach. */
  readonly allowNetwork: boolean
}

/** Reads arguments that cli/main.mjs has checked. */
export const readOptions = (args: readonly string[]): Options => ({
  watch: args.includes('--watch'),
  fresh: args.includes('--fresh'),
  keys: args.includes('--keys'),
  json: args.includes('--json'),
  allowNetwork: args.includes('--allow-network'),
})
