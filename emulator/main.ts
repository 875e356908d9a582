import { type Options, readOptions } from './options.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { shutdownOnSignals } from './shutdown.ts'
import { makeStateFolder, takeState } from './state.ts'

// npm start.
shutdownOnSignals()
try {
  const options = readOptions()
  makeStateFolder()
  const embedded = process.env.DATABASE_URL ? undefined : startDemo(options)
  // The embedded Postgres starts while the other modules load.
  const { serve } = await import('./npm-start.ts')
  await serve(options, embedded)
} catch (error) {
  const { reportError } = await import('../cli/local/report-error.ts')
  reportError(error)
  process.exit(1)
}

function startDemo(options: Options) {
  const state = takeState(options)
  const postgres = startEmbeddedPostgres(state?.postgres)
  // The error is reported where the promise is awaited.
  postgres.catch(() => undefined)
  return { state, postgres }
}
