import { createHash } from 'node:crypto'
import type { RedisBackend, Reply } from './redis.ts'

/** The first line of Upstash's scripts. Its flags are unknown to plain Redis. */
const SHEBANG = /^#!lua[^\n]*\n/

/** Runs a command. Scripts lose their first line but keep the hash of the text that the client sent. */
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
    if (call !== 'EVAL' && call !== 'EVALSHA') return redis.send(command)
    const script = scripts.get(call === 'EVAL' ? remember(first) : first.toLowerCase())
    if (script === undefined) return { error: 'NOSCRIPT No matching script. Please use EVAL.' }
    return redis.send(['EVAL', script, second, ...rest])
  }
}
