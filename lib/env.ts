import * as z from 'zod/mini'

const Env = z.object({
  /** Neon's connection string; requests go to its host over HTTPS. */
  DATABASE_URL: z.string().check(z.regex(/^postgres(ql)?:\/\//)),
  UPSTASH_REDIS_REST_URL: z.url({ protocol: /^https?$/ }),
  UPSTASH_REDIS_REST_TOKEN: z.string().check(z.minLength(1)),
  CURSOR_SECRET: z.string().check(z.minLength(16)),
  CURSOR_SECRET_PREVIOUS: z.optional(z.string().check(z.minLength(16))),
  SESSION_COOKIE: z._default(z.string().check(z.minLength(1)), 'session'),
})

export type Env = z.infer<typeof Env>

/** A Worker's bindings, checked; throws an error that names each one that is missing or malformed, never its value. */
export function parseEnv(bindings: unknown): Env {
  const parsed = Env.safeParse(bindings)
  if (parsed.success) return parsed.data
  const names = new Set(parsed.error.issues.map((issue) => issue.path.join('.')))
  throw new Error(`Missing or malformed in the Worker's environment: ${[...names].join(', ')}`)
}
