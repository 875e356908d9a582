import { createRequire } from 'node:module'

type State = object

/** The parts of fengari, the Lua inside ioredis-mock, that open and close one. */
interface Fengari {
  lua: { lua_settop(state: State, top: number): void; lua_close(state: State): void }
  lauxlib: { luaL_newstate(): State }
  lualib: { luaL_openlibs(state: State): void }
}

/**
 * Lets every script run in the same Lua. ioredis-mock opens one for each, with all of its libraries, which costs more
 * than the rest of a request; scripts run one after the other and set what they read, so that one is enough.
 */
export function shareOneLua(): void {
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
