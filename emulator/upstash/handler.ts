import * as z from 'zod/mini'
import type { RedisBackend, Reply } from './redis.ts'
import { withScripts } from './scripts.ts'

const Argument = z.pipe(
  z.unknown(),
  z.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
)
const Command = z.array(Argument).check(z.minLength(1))
const Commands = z.array(Command)

/** Answers Upstash's REST protocol for requests with `token`. */
export function upstash(redis: RedisBackend, token: string): (request: Request) => Promise<Response> {
  const send = withScripts(redis)
  return async (request) => {
    if (request.headers.get('Authorization') !== `Bearer ${token}`) return failure(401, 'Unauthorized')
    const path = new URL(request.url).pathname
    const body = await request.json().catch(() => undefined)
    const base64 = request.headers.get('Upstash-Encoding') === 'base64'
    const encode = (reply: Reply) =>
      'error' in reply || !base64 ? reply : { result: toBase64(reply.result) }

    try {
      if (path === '/') {
        const command = z.safeParse(Command, body)
        if (!command.success) return failure(400, 'ERR the body is not a command')
        const reply = await send(command.data)
        return 'error' in reply ? failure(400, reply.error) : success(encode(reply))
      }
      if (path !== '/pipeline' && path !== '/multi-exec') return failure(404, `ERR unknown path: ${path}`)
      const commands = z.safeParse(Commands, body)
      if (!commands.success) return failure(400, 'ERR the body is not a list of commands')
      const replies =
        path === '/multi-exec'
          ? await redis.transaction(commands.data)
          : await Promise.all(commands.data.map((command) => send(command)))
      return success(replies.map(encode))
    } catch (error) {
      return failure(500, `ERR Redis is unavailable: ${error instanceof Error ? error.message : error}`)
    }
  }
}

const success = (body: unknown): Response =>
  Response.json(body, { headers: { 'upstash-sync-token': 'local' } })

const failure = (status: number, error: string): Response => Response.json({ error }, { status })

/** Encodes every nested string; Upstash's client expects a plain "OK" as it is. */
const toBase64 = (result: unknown): unknown => (result === 'OK' ? result : encodeStrings(result))

function encodeStrings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeStrings)
  return typeof value === 'string' ? Buffer.from(value).toString('base64') : value
}
