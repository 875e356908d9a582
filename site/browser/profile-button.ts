import { find } from '../../charts/elements.ts'
import { readApiKey } from '../../lib/access/api-key.ts'
import { shareProfile } from '../../reference/share-profile.ts'
import { save } from './download.ts'

/** Makes the button save the profile file of the share for the key. */
export function enableProfileButton(keyOf: () => string): void {
  const state = find(HTMLElement, '#profile-state')
  find(HTMLButtonElement, '#profile').addEventListener('click', () => {
    const key = readApiKey(keyOf())
    if (key === null) return state.replaceChildren('Enter your API key first: svc_live_ and 64 digits.')
    save('export.share', new Blob([shareProfile(location.origin, key)]))
    state.replaceChildren('Saved export.share. It contains your key.')
  })
}
