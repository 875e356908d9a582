import { AsyncLocalStorage } from 'node:async_hooks'
import http from 'node:http'
import { createServer } from 'node:net'
import { Miniflare, type MiniflareOptions } from 'miniflare'

const inMiniflare = new AsyncLocalStorage<true>()
const createHttpServer = http.createServer

// miniflare is CommonJS and reads this property. Imports of `createServer` by name keep the original.
Reflect.set(http, 'createServer', (...args: Parameters<typeof createHttpServer>) =>
  inMiniflare.getStore() ? createServer((socket) => socket.destroy()) : createHttpServer(...args),
)

/**
 * Creates a miniflare whose loopback server closes each connection: it would write and read any file for every local
 * user and web page. workerd needs it only for bindings that are functions, error pages and miniflare's own log.
 */
export const createMiniflare = (options: MiniflareOptions): Miniflare =>
  inMiniflare.run(true, () => new Miniflare(options))
