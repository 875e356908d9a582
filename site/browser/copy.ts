/** Makes a button copy a text, and say whether it did. */
export function enableCopy(button: HTMLButtonElement, textOf: () => string): void {
  const label = button.textContent
  button.addEventListener('click', async () => {
    button.textContent = await navigator.clipboard.writeText(textOf()).then(
      () => 'Copied',
      () => 'Copy failed',
    )
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}
