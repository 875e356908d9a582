import bash from '@speed-highlight/core/languages/bash.js'
import json from '@speed-highlight/core/languages/json.js'
import py from '@speed-highlight/core/languages/py.js'
import sql from '@speed-highlight/core/languages/sql.js'
import ts from '@speed-highlight/core/languages/ts.js'
import { tokenizeWith } from '@speed-highlight/core/tokenize'
import { createElement } from '../../charts/elements.ts'

const GRAMMARS = { curl: bash, javascript: ts, json, python: py, sql }

/** Longest text to highlight: a phone takes too long for more. */
const MAX_LENGTH = 60_000

/** Shows code in an element, with syntax highlighting. */
export function showCode(element: Element, code: string, language: keyof typeof GRAMMARS): void {
  if (code.length > MAX_LENGTH) {
    element.replaceChildren(code)
    return
  }
  const parts: (Node | string)[] = []
  const addToken = (text: string, type?: string) => {
    parts.push(type === undefined ? text : createElement('span', { class: `code-${type}` }, [text]))
  }
  // @ts-expect-error The library's types do not support exactOptionalPropertyTypes.
  tokenizeWith(code, GRAMMARS[language], addToken, { languages: { js: ts } })
  element.replaceChildren(...parts)
}
