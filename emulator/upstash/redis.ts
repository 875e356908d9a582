import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { Redis } from 'ioredis'
import RedisMock from 'ioredis-mock'

shareLuaState()

/** A command's result, or Redis's error message. */
export type Reply = { result: unknown } | { error: string }

/** A Redis server or the embedded store. A call rejects only when Redis cannot be reached. */
export interface RedisBackend {
  send(command: readonly string[]): Promise<Reply>
  close(): void
}

/**
 * Runs before each script of the embedded store. Redis gives scripts `false` for a missing value of a list, ioredis-mock a
 * JavaScript null.
 */
const LUA_PRELUDE = `
local call = redis.call
redis.call = function(...)
  local reply = call(...)
  if type(reply) ~= 'userdata' then return reply end
  local list = {}
  for index = 1, #reply do
    list[index] = type(reply[index]) ~= 'userdata' and reply[index]
  end
  return list
end
`

/** Opens an empty store in this process. */
export function embeddedRedis(): RedisBackend {
  // ioredis-mock shares data between instances with the same host.
  const redis = new RedisMock({ host: randomUUID() })
  return {
    // ioredis-mock has a method for each command and no generic `call`.
    send: ([name = '', ...sent]) => {
      const [script = '', ...rest] = sent
      const args = name.toUpperCase() === 'EVAL' ? [LUA_PRELUDE + script, ...rest] : sent
      const method: unknown = Reflect.get(redis, name.toLowerCase())
      if (typeof method !== 'function') return Promise.resolve({ error: `ERR unknown command '${name}'` })
      return replyOf(async () => Reflect.apply(method, redis, args))
    },
    close: () => redis.disconnect(),
  }
}

/** Connects to a server. While it is down, every command fails at once and the connection is retried. */
export async function connectRedis(url: string): Promise<RedisBackend> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 500),
  })
  let reason: Error | undefined
  redis.on('error', (error) => {
    reason = error
  })
  try {
    await redis.connect()
    await redis.ping()
    // ioredis connects even when Redis rejects the password or the database number, and reports that as an event.
    if (reason !== undefined) throw reason
  } catch (error) {
    redis.disconnect()
    throw reason ?? error
  }
  return {
    send: ([name = '', ...args]) => replyOf(() => redis.call(name, ...args), isReplyError),
    close: () => redis.disconnect(),
  }
}

const isReplyError = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

async function replyOf(call: () => Promise<unknown>, isReply = (_: unknown) => true): Promise<Reply> {
  try {
    return { result: await call() }
  } catch (error) {
    if (!isReply(error)) throw error
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

type State = object

/** The parts of fengari, ioredis-mock's Lua, that open and close a state. */
interface Fengari {
  lua: { lua_settop(state: State, top: number): void; lua_close(state: State): void }
  lauxlib: { luaL_newstate(): State }
  lualib: { luaL_openlibs(state: State): void }
}

/**
 * Runs every script in one Lua state. ioredis-mock opens a state with all libraries for each script, which costs more
 * than the rest of a request. Scripts run one at a time and set all globals that they read.
 */
function shareLuaState(): void {
  const require = createRequire(import.meta.url)
  const { lua, lauxlib, lualib }: Fengari = createRequire(require.resolve('ioredis-mock'))('fengari')
  const state = lauxlib.luaL_newstate()
  lualib.luaL_openlibs(state)
  lauxlib.luaL_newstate = () => {
    lua.lua_settop(state, 0)
    return state
  }
  lualib.luaL_openlibs = () => undefined
  lua.lua_close = () => undefined
}
