/** Makes a button copy a text, and say whether it did. */
export function enableCopy(button: HTMLButtonElement, textOf: () => string | Promise<string>): void {
  const label = button.textContent
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(await textOf())
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Copy failed'
    }
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}
