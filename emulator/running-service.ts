import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../cli/local/pid-lock.mjs'
import { writePrivateFile } from '../cli/local/private-file.ts'
import { makeStateFolder, STATE_FOLDER } from './state.ts'

/** What commands of this machine need to know of a service that `npm start` runs. */
type RunningService = {
  readonly pid: number
  /** Without a trailing slash. */
  readonly url: string
  /** A key of the demo that reads all its brands; undefined with `DATABASE_URL`. */
  readonly key?: string | undefined
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

/** Returns nothing of a file that its process removes meanwhile. */
function read(path: string): RunningService[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8'))]
  } catch {
    return []
  }
}
