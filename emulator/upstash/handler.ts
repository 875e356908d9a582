import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import type { RedisBackend, Reply } from './redis.ts'

const Argument = z.pipe(
  z.unknown(),
  z.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
)
const Command = z.array(Argument).check(z.minLength(1))

/** Answers Upstash's REST protocol for requests with `token`, each of one command, with strings as base64. */
export function upstash(redis: RedisBackend, token: string): (request: Request) => Promise<Response> {
  const send = withScripts(redis)
  return async (request) => {
    if (request.headers.get('Authorization') !== `Bearer ${token}`) return failure(401, 'Unauthorized')
    const command = z.safeParse(Command, await request.json().catch(() => undefined))
    if (!command.success) return failure(400, 'ERR the body is not a command')
    try {
      const reply = await send(command.data)
      return 'error' in reply ? failure(400, reply.error) : Response.json({ result: toBase64(reply.result) })
    } catch (error) {
      return failure(500, `ERR Redis is unavailable: ${error instanceof Error ? error.message : error}`)
    }
  }
}

const failure = (status: number, error: string): Response => Response.json({ error }, { status })

/** Encodes every nested string; Upstash's client expects a plain "OK" as it is. */
const toBase64 = (result: unknown): unknown => (result === 'OK' ? result : encodeStrings(result))

function encodeStrings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeStrings)
  return typeof value === 'string' ? Buffer.from(value).toString('base64') : value
}

/** The first line of Upstash's scripts. Its flags are unknown to plain Redis. */
const SHEBANG = /^#!lua[^\n]*\n/

/** Runs a command. Scripts lose their first line but keep the hash of the text that the client sent. */
function withScripts(redis: RedisBackend): RedisBackend['send'] {
  const scripts = new Map<string, string>()

  function remember(script: string): string {
    const sha = createHash('sha1').update(script).digest('hex')
    scripts.set(sha, script.replace(SHEBANG, ''))
    return sha
  }

  return async (command): Promise<Reply> => {
    const [name = '', first = '', second = '', ...rest] = command
    const call = name.toUpperCase()
    if (call !== 'EVAL' && call !== 'EVALSHA') return redis.send(command)
    const script = scripts.get(call === 'EVAL' ? remember(first) : first.toLowerCase())
    if (script === undefined) return { error: 'NOSCRIPT No matching script. Please use EVAL.' }
    return redis.send(['EVAL', script, second, ...rest])
  }
}
