import { readApiKey } from '../../lib/request/api-key.ts'
import { save } from '../charts/elements.ts'
import { shareProfile } from '../reference/share-profile.ts'

/** Saves the profile file of the key that is entered. Returns what happened, as a sentence. */
export function saveProfile(entered: string): string {
  const key = readApiKey(entered)
  if (key === null) return 'Enter your API key first: svc_live_ and 64 hexadecimal digits.'
  save('export.share', new Blob([shareProfile(location.origin, key)]))
  return 'Saved export.share. It contains your key.'
}
