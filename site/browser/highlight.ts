/** Longest text to highlight: a phone takes too long for more. */
const MAX_LENGTH = 60_000

/** Shows code in an element, and highlights its syntax when the grammars are loaded. */
export async function showCode(element: Element, code: string, language?: string): Promise<void> {
  element.replaceChildren(code)
  if (code.length > MAX_LENGTH || language === undefined) return
  const grammars = await import('./grammars.ts').catch(() => null)
  // The element can have other code by now.
  if (grammars && element.textContent === code) element.replaceChildren(...grammars.highlight(code, language))
}
