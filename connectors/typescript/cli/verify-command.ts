import { createApi } from './api.ts'
import { DiffersError } from './errors.ts'
import { openStore } from './open-store.ts'
import type { Progress } from './progress.ts'
import { describeEqual } from './summary.ts'
import { counted } from './text.ts'
import { repair, verify } from './verify.ts'

export type VerifyOptions = {
  url?: string
  userAgent?: string
  allowHttp?: boolean
  full?: boolean
  repair?: boolean
}

/** Compares a copy with the service, and reports each difference. Throws `DiffersError` when there is one. */
export async function runVerify(copy: string, options: VerifyOptions, progress: Progress): Promise<void> {
  const { full = false } = options
  const api = createApi({ ...options, key: process.env.EXPORT_API_KEY }, progress)
  const verification = { api, store: openStore(copy, progress), progress, full }
  progress.begin(`Comparing ${copy} with ${options.url}`)
  if (options.repair) await repair(verification)
  const compared = { files: 0, rows: 0, days: 0 }
  const differences = await verify({ ...verification, compared })
  for (const { message, ...where } of differences)
    progress.notice('differs', `${where.path}: ${message}`, where, 'error')
  if (differences.length === 0)
    return progress.notice('verified', describeEqual(compared, { full }), { differences: 0, ...compared })
  const advice = options.repair
    ? 'Days that the plan does not reach, and brands that the key no longer reads, cannot be fetched.'
    : 'Run sync, and verify with --repair what still differs.'
  throw new DiffersError(`${counted(differences.length, 'difference')}. ${advice}`)
}
