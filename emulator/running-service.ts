import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../cli/local/pid-lock.mjs'
import { writePrivateFile } from '../cli/local/private-file.ts'
import { showSteps } from '../cli/local/steps.ts'
import { makeStateFolder, STATE_FOLDER } from './state.ts'

/** What commands of this machine need to know of a service that `npm start` runs. */
type RunningService = {
  readonly pid: number
  /** Without a trailing slash. */
  readonly url: string
  /** The connection string of the demo and a key that reads two of its brands; undefined with `DATABASE_URL`. */
  readonly demo?: { readonly databaseUrl: string; readonly key: string } | undefined
  /** Whether it still loads older days of the demo. */
  readonly isLoading: boolean
  /** The bucket of the share, by the S3 API. */
  readonly bucket: BucketAccess
}

/** How a command reaches a bucket by the S3 API. */
export type BucketAccess = {
  /** The URL of the bucket, without a trailing slash. */
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const PREFIX = 'running-'

const DEFAULT_PORT = '8787'

/** Lets commands of this user find the service until the process ends. */
export function announce(service: Omit<RunningService, 'pid'>): void {
  const path = join(STATE_FOLDER, `${PREFIX}${new URL(service.url).port}.json`)
  makeStateFolder()
  writePrivateFile(path, JSON.stringify({ pid: process.pid, ...service }))
  process.on('exit', () => rmSync(path, { force: true }))
}

/**
 * Returns the service that runs from this checkout: the one on `port` when it is given, else on the default port, else
 * any. Undefined when there is none.
 */
export function findRunning(port: string | undefined): RunningService | undefined {
  if (!existsSync(STATE_FOLDER)) return undefined
  const services = readdirSync(STATE_FOLDER)
    .filter((name) => name.startsWith(PREFIX) && name.endsWith('.json'))
    .flatMap((name) => read(join(STATE_FOLDER, name)))
    .filter(({ pid }) => isAlive(pid))
  const on = (wanted: string) => services.find(({ url }) => new URL(url).port === wanted)
  return port ? on(port) : (on(DEFAULT_PORT) ?? services[0])
}

/** Returns the service on `PORT`, or as {@link findRunning} finds it, once it has all days of the demo. */
export async function awaitRunning(): Promise<RunningService | undefined> {
  const find = () => findRunning(process.env.PORT)
  let service = find()
  const steps = showSteps()
  if (service?.isLoading) {
    const message = 'Waiting for the service, which loads older days of the demo'
    if (process.stderr.isTTY) steps.begin(message)
    else console.error(message)
  }
  while (service?.isLoading) {
    await sleep(500)
    service = find()
  }
  steps.clear()
  return service
}

/** Returns nothing of a file that its process removes meanwhile. */
function read(path: string): RunningService[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8'))]
  } catch {
    return []
  }
}
