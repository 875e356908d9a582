import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { shutdownOnSignals } from './shutdown.ts'
import { takeState } from './state.ts'

// npm start. With --watch it is npm run dev.
shutdownOnSignals()
const embedded = process.env.DATABASE_URL ? undefined : startDemo()
// The embedded Postgres starts while the other modules load.
const { serve } = await import('./serve.ts')
await serve(embedded)

function startDemo() {
  const state = takeState({ fresh: process.argv.includes('--fresh') })
  const postgres = startEmbeddedPostgres(state?.postgres)
  // The error is reported where the promise is awaited.
  postgres.catch(() => undefined)
  return { state, postgres }
}
