import { SHARE_BASE } from '../../lib/share/signed-url.ts'

/** Returns the profile file with which a client of Delta Sharing opens the share of a service (docs/share.md). */
export function shareProfile(origin: string, key: string): string {
  const profile = { shareCredentialsVersion: 1, endpoint: origin + SHARE_BASE, bearerToken: key }
  return `${JSON.stringify(profile)}\n`
}
