import { createRequire } from 'node:module'

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
export function shareLuaState(): void {
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
