import { find } from '../../charts/elements.ts'
import { amount, downloadCsv } from './download.ts'
import type { ApiRequest } from './request.ts'

/** Makes the button of a form download its rows as CSV. While it does, the same button cancels. */
export function enableDownload(form: HTMLFormElement, requestOf: () => ApiRequest): void {
  const button = form.querySelector('[data-download]')
  if (!(button instanceof HTMLButtonElement)) return
  const label = button.textContent
  const status = find(HTMLElement, '[data-download-status]', form)
  // Not in the live region: a screen reader would read every chunk.
  const progress = find(HTMLElement, '[data-progress]', form)
  let download: AbortController | undefined

  button.addEventListener('click', async () => {
    if (download !== undefined) return download.abort()
    download = new AbortController()
    button.textContent = 'Cancel'
    status.replaceChildren('Downloading…')
    const { signal } = download
    const result = await downloadCsv({
      request: requestOf(),
      signal,
      onProgress: (each) => progress.replaceChildren(` ${amount(each)}`),
    })
    download = undefined
    button.textContent = label
    progress.replaceChildren()
    status.replaceChildren(result)
  })
}
