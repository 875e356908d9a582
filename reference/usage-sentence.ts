/** Turns Commander's lines about a wrong option into one line that ends with where the help is. */
export function usageSentence(text: string, help: string): string {
  const [message = '', hint] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
  return [message, hint?.replace(/^\((.+)\)$/, '$1'), `See ${help}.`]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.?]$/.test(sentence) ? sentence : `${sentence}.`))
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
    .join(' ')
}
