// Runs in the browser, after the script of the reference page. demo-page-worker.mjs serves it.

const form = document.querySelector('#key')

for (const button of document.querySelectorAll('[data-demo-key]')) {
  button.addEventListener('click', () => {
    document.querySelector('#key-input').value = button.dataset.demoKey
    form.requestSubmit()
  })
}

document.querySelector('[data-restate]').addEventListener('click', async ({ currentTarget }) => {
  const state = document.querySelector('[data-restated]')
  currentTarget.disabled = true
  state.replaceChildren('Changing the past takes a few seconds…')
  const response = await fetch('docs/restate', { method: 'POST' }).catch(() => null)
  state.replaceChildren(response?.ok ? (await response.json()).join(' ') : 'The demo was not changed.')
  currentTarget.disabled = false
})

// The form of the endpoint that the address names.
const target = location.hash.slice(1).split('?')[0] || 'visibility'
const request = document.getElementById(target)?.closest('.endpoint')?.querySelector('form.try')
const brands = request?.querySelector('select')
if (brands) {
  // The page lists the brands when it has them.
  new MutationObserver((_, observer) => {
    observer.disconnect()
    const { href } = location
    request.requestSubmit()
    // The page would name the form in the address.
    history.replaceState(null, '', href)
  }).observe(brands, { childList: true })
}
form.requestSubmit()
