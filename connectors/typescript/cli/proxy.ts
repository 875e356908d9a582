import http from 'node:http'
import type { Progress } from './progress.ts'

const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/** Sends requests through the proxy that the environment names, except those to this machine. */
export function useProxy(progress: Progress): void {
  const { env, version } = process
  const name = VARIABLES.find((variable) => env[variable])
  if (name === undefined) return
  const direct = [env.no_proxy ?? env.NO_PROXY ?? [], 'localhost', '127.0.0.1', '::1'].flat()
  // Missing before Node 24.14.
  if ('setGlobalProxyFromEnv' in http) http.setGlobalProxyFromEnv({ ...env, no_proxy: direct.join() })
  else if (env.NODE_USE_ENV_PROXY !== '1')
    progress.notice('proxy', `Node ${version} ignores ${name}. Use Node 24.14 or later.`, {}, 'warn')
}
