import { createCommand, requireOwnOptions } from '../cli/local/command.ts'

/** The options of `npm start`. */
export type Options = {
  /** Reload the Workers when a source file changes. */
  readonly watch?: boolean
  /** Delete the data of earlier starts. */
  readonly fresh?: boolean
  /** List the demo keys and start nothing. */
  readonly keys?: boolean
  /** Print what Workers log as it is. */
  readonly json?: boolean
  /** Let HOST be an address that other machines reach. */
  readonly allowNetwork?: boolean
}

/** Reads the options of this process, and ends it when they are wrong. */
export function readOptions(): Options {
  const command = createCommand('start', {
    description: 'Runs the whole service on this machine, with demo data.',
    variables: {
      'PORT, HOST': 'where the service listens (8787, 127.0.0.1)',
      DATABASE_URL: 'a Postgres server instead of the demo data',
      REDIS_URL: 'a Redis server instead of the embedded one',
      LATENCY_MS: 'delay of each database and Redis response',
      OUTER_LIMIT: 'requests a minute of an address or a key (600)',
      INSPECTOR_PORT: 'port where DevTools can debug the Workers',
    },
  })
    .option('--watch', 'reload the Workers when a source file changes')
    .option('--keys', 'list the demo keys and exit')
    .option('--fresh', 'delete the data of earlier starts and begin again')
    .option('--json', 'print requests as JSON lines, as Workers log them')
    .option(
      '--allow-network',
      'let other machines reach the service, its keys and all of its data; needed when HOST is not this machine, or requests name another host',
    )
  requireOwnOptions(command)
  return command.parse().opts<Options>()
}
