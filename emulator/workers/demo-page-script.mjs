// Runs in the browser, after the script of the reference page. demo-page-worker.mjs serves it.

const form = document.querySelector('#key')

for (const button of document.querySelectorAll('[data-demo-key]')) {
  button.addEventListener('click', () => {
    document.querySelector('#key-input').value = button.dataset.demoKey
    form.requestSubmit()
  })
}

// Missing where this machine does not ask.
document.querySelector('[data-restate]')?.addEventListener('click', async ({ currentTarget }) => {
  const state = document.querySelector('[data-restated]')
  currentTarget.disabled = true
  state.replaceChildren('Changing the past takes a few seconds…')
  const response = await fetch('docs/restate', { method: 'POST' }).catch(() => null)
  state.replaceChildren(response?.ok ? (await response.json()).join(' ') : 'The demo was not changed.')
  currentTarget.disabled = false
})

form.requestSubmit()
