import { createHash } from 'node:crypto'
import type { RedisBackend, Reply } from './redis.ts'

/** The first line that Upstash's own scripts have, with flags that a plain Redis refuses. */
const SHEBANG = /^#!lua[^\n]*\n/

/** Runs one command; knows scripts by the hash of what the client sent, though Redis runs them without their first line. */
export function withScripts(redis: RedisBackend): RedisBackend['send'] {
  const scripts = new Map<string, string>()

  function remember(script: string): string {
    const sha = createHash('sha1').update(script).digest('hex')
    scripts.set(sha, script.replace(SHEBANG, ''))
    return sha
  }

  return async (command): Promise<Reply> => {
    const [name = '', first = '', second = '', ...rest] = command
    const call = name.toUpperCase()
    if (call === 'SCRIPT' && first.toUpperCase() === 'LOAD') return { result: remember(second) }
    if (call !== 'EVAL' && call !== 'EVALSHA') return redis.send(command)
    const script = scripts.get(call === 'EVAL' ? remember(first) : first.toLowerCase())
    if (script === undefined) return { error: 'NOSCRIPT No matching script. Please use EVAL.' }
    return redis.send(['EVAL', script, second, ...rest])
  }
}
