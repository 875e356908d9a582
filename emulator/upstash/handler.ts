import * as z from 'zod/mini'
import type { RedisBackend, Reply } from './redis.ts'
import { withScripts } from './scripts.ts'

const Argument = z.pipe(
  z.unknown(),
  z.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
)
const Command = z.array(Argument).check(z.minLength(1))
const Commands = z.array(Command)

/** Answers Upstash's REST protocol from `redis` to whoever brings `token`. */
export function upstash(redis: RedisBackend, token: string): (request: Request) => Promise<Response> {
  const send = withScripts(redis)
  return async (request) => {
    if (request.headers.get('Authorization') !== `Bearer ${token}`) return refusal(401, 'Unauthorized')
    const path = new URL(request.url).pathname
    const body = await request.json().catch(() => undefined)
    const base64 = request.headers.get('Upstash-Encoding') === 'base64'
    const encode = (reply: Reply) =>
      'error' in reply || !base64 ? reply : { result: inBase64(reply.result) }

    try {
      if (path === '/') {
        const command = z.safeParse(Command, body)
        if (!command.success) return refusal(400, 'ERR the body is no command')
        const reply = await send(command.data)
        return 'error' in reply ? refusal(400, reply.error) : answer(encode(reply))
      }
      if (path !== '/pipeline' && path !== '/multi-exec') return refusal(404, `ERR no such path: ${path}`)
      const commands = z.safeParse(Commands, body)
      if (!commands.success) return refusal(400, 'ERR the body is no list of commands')
      const replies =
        path === '/multi-exec'
          ? await redis.transaction(commands.data)
          : await Promise.all(commands.data.map((command) => send(command)))
      return answer(replies.map(encode))
    } catch (error) {
      return refusal(500, `ERR Redis is away: ${error instanceof Error ? error.message : error}`)
    }
  }
}

function answer(body: unknown): Response {
  return Response.json(body, { headers: { 'upstash-sync-token': 'local' } })
}

function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

/** As Upstash's client decodes: every string however deep, except a result that is "OK" as a whole. */
function inBase64(result: unknown): unknown {
  return result === 'OK' ? result : encodeStrings(result)
}

function encodeStrings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeStrings)
  return typeof value === 'string' ? Buffer.from(value).toString('base64') : value
}
