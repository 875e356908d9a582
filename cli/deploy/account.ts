import * as z from 'zod/mini'
import { reasonOfFailure, wrangler } from './wrangler.ts'

const Who = z.object({
  loggedIn: z.boolean(),
  accounts: z.optional(z.array(z.object({ id: z.string(), name: z.string() }))),
})

type Environment = Readonly<Record<string, string | undefined>>

/** Whether wrangler may deploy, and to which account: a sentence for what is missing, none when nothing is. */
export async function missingAccount(environment: Environment): Promise<string[]> {
  const ran = await wrangler(['whoami', '--json'])
  const who = Who.safeParse(parsed(ran.stdout))
  const token = Boolean(environment.CLOUDFLARE_API_TOKEN)
  if (!who.success) return [`Cloudflare cannot be asked who deploys: ${reasonOfFailure(ran)}`]
  if (!who.data.loggedIn) {
    return [
      token
        ? 'CLOUDFLARE_API_TOKEN is not taken by Cloudflare: it is wrong, expired or revoked.'
        : 'CLOUDFLARE_API_TOKEN is not set and wrangler is not logged in: npx wrangler login does it on a machine with a browser.',
    ]
  }
  const accounts = who.data.accounts ?? []
  const id = environment.CLOUDFLARE_ACCOUNT_ID
  const known = accounts.map((account) => `${account.id} (${account.name})`).join(', ')
  if (!id && accounts.length > 1)
    return [`CLOUDFLARE_ACCOUNT_ID is not set, and there are several: ${known}.`]
  if (!id && accounts.length === 0)
    return ['CLOUDFLARE_ACCOUNT_ID is not set, and the login tells no account.']
  if (id && accounts.length > 0 && !accounts.some((account) => account.id === id)) {
    return [`CLOUDFLARE_ACCOUNT_ID is none that the login reaches: ${known}.`]
  }
  return []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
