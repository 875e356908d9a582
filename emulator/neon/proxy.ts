import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { Agent, request as send } from 'undici'
import { UsageError, withClient } from '../../drizzle/db/connect.ts'
import { freePort, portOf } from '../port.ts'
import type { Handler } from '../workers/egress.ts'
import { passwordsOf } from './authenticate.ts'
import type { Neon, NeonOptions } from './neon.ts'

const HOST = '127.0.0.1'

/** The name in the certificate. */
const NAME = 'api.neon.test'

/** More requests per second than any run sends. Neon's default is 200, with bursts of 500. */
const RATE_LIMIT = { rps: 100_000, burst: 100_000 }

const START_TIMEOUT_MS = 10_000

const ATTEMPTS = 3

/** Thrown when the proxy ends while it starts, for example because another process took its port. */
class ProxyEndedError extends UsageError {}

/** Starts Neon's own proxy before a PostgreSQL server. Lets the roles of the connection strings log in there. */
export async function startNeonProxy(options: NeonOptions, program: string): Promise<Neon> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(options, program)
    } catch (error) {
      if (!(error instanceof ProxyEndedError) || attempt === ATTEMPTS) throw error
    }
  }
}

async function launch(options: NeonOptions, program: string): Promise<Neon> {
  const { databaseUrl, connectionStrings } = options
  const postgres = new URL(databaseUrl)
  const passwords = passwordsOf(connectionStrings)
  const secrets = await withClient(databaseUrl, (client) => setPasswords(client, passwords))
  const controlPlane = startControlPlane(`${postgres.hostname}:${postgres.port || 5432}`, secrets)
  const controlPlanePort = await listen(controlPlane)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'export-api-neon-'))
  const ca = makeCertificate(folder)
  const child = spawn(
    program,
    [
      ...['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')],
      ...['--auth-backend', 'control-plane', '--control-plane-token', 'local'],
      ...['--auth-endpoint', `http://${HOST}:${controlPlanePort}/proxy`],
      ...['--sql-over-http-pool-opt-in', 'false', '--wss', `${HOST}:${port}`],
      ...['--proxy', '--mgmt', '--http'].flatMap((unused) => [unused, `${HOST}:0`]),
    ],
    { stdio: 'ignore' },
  )
  const failed = once(child, 'error').then(([error]) => {
    throw new UsageError(`NEON_PROXY cannot be started: ${error.message}.`)
  })
  const ended = once(child, 'exit').then(() => {
    throw new ProxyEndedError('NEON_PROXY ended while it started.')
  })
  // After the start, the end is expected.
  ended.catch(() => undefined)
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  const agent = new Agent({ connect: { ca, servername: NAME } })
  const handle = forwardTo(`https://${HOST}:${port}/sql`, agent)
  const close = async () => {
    process.off('exit', kill)
    kill()
    controlPlane.close()
    controlPlane.closeAllConnections()
    await agent.destroy()
    rmSync(folder, { recursive: true })
  }
  try {
    const answered = connectionStrings.map((each) => waitUntilAnswered(handle, each))
    await Promise.race([Promise.all(answered), failed, ended])
  } catch (error) {
    await close()
    throw error
  }
  return { handle, close }
}

/** Lets roles that cannot log in log in with their passwords, and returns the secrets by which Neon checks passwords. */
async function setPasswords(
  client: Client,
  passwords: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const roles = 'rolname = any ($1)'
  const users = [[...passwords.keys()]]
  const { rows } = await client.query<{ rolname: string }>(
    `select rolname from pg_roles where not rolcanlogin and ${roles}`,
    users,
  )
  for (const { rolname } of rows) {
    const password = client.escapeLiteral(passwords.get(rolname) ?? '')
    await client.query(`alter role ${client.escapeIdentifier(rolname)} login password ${password}`)
  }
  const secrets = await client.query<{ rolname: string; rolpassword: string }>(
    `select rolname, rolpassword from pg_authid where rolpassword is not null and ${roles}`,
    users,
  )
  return new Map(secrets.rows.map(({ rolname, rolpassword }) => [rolname, rolpassword]))
}

/** What the proxy asks Neon's control plane: how to check a role's password, and where the endpoint's Postgres is. */
const startControlPlane = (address: string, secrets: ReadonlyMap<string, string>): Server =>
  createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, `http://${HOST}`)
    const project = { project_id: 'local', account_id: 'local', branch_id: 'local', compute_id: 'local' }
    const answer = pathname.endsWith('/wake_compute')
      ? {
          address,
          aux: { ...project, endpoint_id: searchParams.get('endpointish'), cold_start_info: 'warm' },
        }
      : {
          ...project,
          role_secret: secrets.get(searchParams.get('role') ?? '') ?? '',
          rate_limits: { connection_attempts: { http: RATE_LIMIT } },
        }
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  })

async function listen(server: Server): Promise<number> {
  server.listen(0, HOST)
  await once(server, 'listening')
  return portOf(server)
}

/** Writes key.pem and cert.pem, and returns the certificate. */
function makeCertificate(folder: string): Buffer {
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem']
  const args = ['req', '-x509', ...key, '-out', 'cert.pem', '-days', '30', ...subject]
  try {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  } catch {
    throw new UsageError('NEON_PROXY needs the program openssl, which makes the certificate. Install it.')
  }
  return readFileSync(join(folder, 'cert.pem'))
}

/** Sends each request on, and drops it when the caller leaves. */
const forwardTo =
  (url: string, dispatcher: Agent): Handler =>
  async (request) => {
    const { statusCode, headers, body } = await send(url, {
      dispatcher,
      method: 'POST',
      headers: Object.fromEntries([...request.headers].filter(([name]) => name.startsWith('neon-'))),
      body: Buffer.from(await request.arrayBuffer()),
      signal: request.signal,
    })
    const text = Object.entries(headers).map(([name, value = '']): [string, string] => [name, String(value)])
    return new Response(await body.arrayBuffer(), { status: statusCode, headers: text })
  }

/** Waits until the proxy answers a query. */
async function waitUntilAnswered(handle: Handler, connectionString: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    const request = new Request(`https://${NAME}/sql`, {
      method: 'POST',
      headers: { 'Neon-Connection-String': connectionString },
      body: '{"query":"select 1"}',
    })
    const response = await handle(request).catch(() => undefined)
    if (response?.ok) return
    if (response?.status === 400) {
      const { username } = new URL(connectionString)
      throw new UsageError(
        `NEON_PROXY: the role ${username} does not exist, or has another password than the emulator's.`,
      )
    }
    await delay(50)
  }
  throw new UsageError(`NEON_PROXY did not answer within ${START_TIMEOUT_MS / 1000} s.`)
}
