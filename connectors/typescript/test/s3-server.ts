import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { freePort } from '../../../cli/local/port.ts'
import { duckdbSetup } from '../../../test/fixtures/duckdb.ts'
import { environment } from '../../python-environment.ts'

const BUCKET = 'copies'
const KEYS = { AWS_ACCESS_KEY_ID: 'copier', AWS_SECRET_ACCESS_KEY: 'secret' }

/** Starts VersityGW, an S3 server that checks signatures. Its objects are files. */
export async function startS3() {
  const root = await mkdtemp(join(tmpdir(), 's3-'))
  const [objects, metadata] = [join(root, 'objects'), join(root, 'metadata')]
  await mkdir(join(objects, BUCKET), { recursive: true })
  await mkdir(metadata)
  const host = `127.0.0.1:${await freePort()}`
  const args = ['--port', host, '--quiet', 'posix', '--sidecar', metadata, objects]
  const { AWS_ACCESS_KEY_ID: ROOT_ACCESS_KEY, AWS_SECRET_ACCESS_KEY: ROOT_SECRET_KEY } = KEYS
  const server = spawn('versitygw', args, {
    env: { PATH: process.env.PATH, ROOT_ACCESS_KEY, ROOT_SECRET_KEY },
    stdio: 'ignore',
  })
  const url = `http://${host}`
  await vi.waitFor(() => fetch(url), 60_000)
  process.env.PATH = `${await environment('duckdb')}:${process.env.PATH}`
  const secret = `type s3, key_id '${ROOT_ACCESS_KEY}', secret '${ROOT_SECRET_KEY}', endpoint '${host}', region 'us-east-1'`
  return {
    url,
    location: `s3://${BUCKET}`,
    env: { ...KEYS, AWS_ENDPOINT_URL_S3: url },
    /** Statements with which DuckDB reads the bucket. */
    setup: `${duckdbSetup(root)}; create secret (${secret}, use_ssl false, url_style 'path')`,
    close: async () => {
      server.kill()
      await once(server, 'close')
      await rm(root, { recursive: true })
    },
  }
}
