import { stdout } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { wrap } from '../cli/local/print-error.mjs'
import { keptSecret } from '../cli/local/private-file.ts'
import { type Steps, showSteps } from '../cli/local/steps.ts'
import { bundle } from '../cli/workers/bundle.ts'
import { migrateToLatest } from '../cli/workers/migrate-to-latest.ts'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import { DEMO } from '../drizzle/seed/demo.ts'
import { checkServers } from './check-servers.ts'
import { type Demo, demoPage, type EmbeddedDemo, NEWEST_DAYS, openDemo } from './demo-data.ts'
import type { Emulator } from './emulator.ts'
import { color } from './log-line.ts'
import type { Options } from './options.ts'
import { announce } from './running-service.ts'
import { readSettings, requireNetworkOption, type Settings } from './settings.ts'
import { CURSOR_SECRET_FILE, R2_FOLDER, writeProfile } from './state.ts'
import { terminalLog } from './terminal-log.ts'
import { variables } from './workers/bindings.ts'

/**
 * Serves the database of `DATABASE_URL`, or the demo in `embedded`. Throws `UsageError` for settings and data that cannot
 * be used.
 */
export async function serve(options: Options, embedded: EmbeddedDemo | undefined): Promise<void> {
  const settings = readSettings(process.env)
  requireNetworkOption(settings, options)
  if (settings.databaseUrl !== undefined && options.fresh)
    throw new UsageError('--fresh deletes the demo data, and DATABASE_URL names another database.')
  await checkServers(settings)
  const steps = showSteps()
  try {
    await start({ options, settings, steps }, embedded)
  } finally {
    steps.clear()
  }
}

type Start = { readonly options: Options; readonly settings: Settings; readonly steps: Steps }

async function start({ options, settings, steps }: Start, embedded: EmbeddedDemo | undefined): Promise<void> {
  const showDays = (loaded: number, of: number) => steps.begin(`Loading the demo: ${loaded} of ${of} days`)
  steps.begin('Starting Postgres and building the Workers')
  const parts = [
    embedded && openDemo(embedded),
    // miniflare is slow to import, so it loads while the database starts.
    import('./emulator.ts'),
    bundle(),
  ] as const
  // esbuild prints its stack when the process exits while it builds.
  await Promise.allSettled(parts)
  const [demo, { startEmulator }] = await Promise.all(parts)
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, migrateToLatest)
  steps.end(`${demo ? 'Started Postgres' : 'Migrated the database'}, built the Workers`)
  const loading = demo?.loadNewest(demo.isLoaded ? undefined : showDays) ?? 0
  if (demo?.isLoaded === false) {
    await loading
    steps.end(`Loaded ${NEWEST_DAYS} days of the demo`)
  }
  steps.begin('Starting the Workers')
  const databaseUrl = settings.databaseUrl ?? demo?.databaseUrl
  let isLoading = true
  const [emulator, missing] = await Promise.all([
    startEmulator({
      ...settings,
      allowNetwork: options.allowNetwork === true,
      databaseUrl,
      r2Folder: demo?.isKept === false ? undefined : R2_FOLDER,
      demoPage: demo && demoPage(demo.databaseUrl, () => isLoading),
      vars: { CURSOR_SECRET: keptSecret(CURSOR_SECRET_FILE), ...variables(process.env) },
      bundle: false,
      onLog: options.json || !stdout.isTTY ? console.log : terminalLog(printWrapped),
    }),
    loading,
  ])
  steps.end('Started the Workers')
  const { url, bucket } = emulator
  const service = { url, bucket, demo: demo && { databaseUrl: demo.databaseUrl, key: DEMO.key } }
  isLoading = missing > 0
  announce({ ...service, isLoading })
  if (demo !== undefined) writeProfile(url, DEMO.key)
  banner(emulator, demo)
  if (demo !== undefined)
    void completeDemo(demo, emulator, missing).then(() => {
      isLoading = false
      announce({ ...service, isLoading })
    })
  if (options.watch) {
    const { watchBundle } = await import('../cli/workers/watch.ts')
    console.log('Watching functions/, lib/, site/ and drizzle/. npm run check finds errors of types.')
    await watchBundle(() =>
      emulator.reload().then(
        () => console.log('Reloaded.'),
        (error) => console.error(`The previous Workers keep serving: ${reasonOf(error)}`),
      ),
    )
  }
}

/** Publishes the demo to its bucket and loads its older days, while the service runs. */
async function completeDemo(demo: Demo, emulator: Emulator, missing: number): Promise<void> {
  await publish(emulator)
  if (missing === 0) return
  console.log(`${missing} older days follow while the service runs.`)
  try {
    await demo.loadOlder()
    console.log('All days are loaded.')
  } catch (error) {
    console.error(`The older days were not all loaded: ${reasonOf(error)}. The next start loads them.`)
  }
  await publish(emulator)
}

const publish = (emulator: Emulator): Promise<void> =>
  emulator.runCron('share-publish').catch(async (error) => {
    // After Ctrl-C, workerd can end before this process does.
    await sleep(1_000)
    console.error(`The demo was not published: ${reasonOf(error)}. The next run follows in five minutes.`)
  })

/** Prints a line that ends before words that do not fit. */
const printWrapped = (line: string): void => console.log(wrap(line, stdout.columns).join('\n'))

const LABEL_WIDTH = 10

/** Prints where the service is, and for the demo what to do next: at most eight lines of at most 80 columns, and one for an inspector. */
function banner({ url, databaseUrl, inspectorUrl }: Emulator, demo: Demo | undefined): void {
  const lines = [entry('Page', color('cyan', url))]
  if (inspectorUrl) lines.push(entry('Inspector', inspectorUrl))
  if (demo !== undefined) {
    lines.push(
      entry('Request', 'paste into another terminal'),
      `KEY=${DEMO.key}`,
      `curl -w '\\n' -H "X-API-Key: $KEY" ${url}/api/export/v1/brands`,
      entry('Copy', `${color('bold', 'npm run sync')} in another terminal writes Delta tables and a report`),
      entry('Database', `DATABASE_URL=${databaseUrl}`),
      demo.isKept
        ? entry('More', `${color('bold', 'npm start -- --keys')} lists all keys`)
        : entry('Data', 'forgotten at the end: another npm start keeps its own in .state/'),
    )
  }
  lines.push(entry('Stop', 'Press Ctrl-C.'))
  console.log(`\n${lines.join('\n')}\n`)
}

const entry = (label: string, text: string): string =>
  `${color('green', '➜')} ${color('bold', label.padEnd(LABEL_WIDTH))}${text}`
