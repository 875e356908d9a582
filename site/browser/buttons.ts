import { readApiKey } from '../../lib/request/api-key.ts'
import { save } from '../charts/elements.ts'
import { shareProfile } from '../reference/share-profile.ts'

// The buttons that belong to no endpoint. Each says what it did.

/** Saves the profile file of the key that is entered. */
export async function saveProfile(entered: string): Promise<string> {
  const key = readApiKey(entered)
  if (key === null) return 'Enter your API key first: svc_live_ and 64 hexadecimal digits.'
  save('export.share', new Blob([shareProfile(location.origin, key)]))
  return 'Saved export.share. It contains your key.'
}

/** Copies the reference as Markdown. */
export async function copyReference(): Promise<string> {
  try {
    await navigator.clipboard.writeText(await (await fetch('docs.md')).text())
    return 'Copied docs.md.'
  } catch {
    return 'Copy failed. Open docs.md instead.'
  }
}
