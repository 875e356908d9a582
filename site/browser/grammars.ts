import bash from '@speed-highlight/core/languages/bash.js'
import json from '@speed-highlight/core/languages/json.js'
import py from '@speed-highlight/core/languages/py.js'
import ts from '@speed-highlight/core/languages/ts.js'
import { tokenizeWith } from '@speed-highlight/core/tokenize'
import { createElement } from '../charts/elements.ts'

/** The words of the samples: the library's grammar has all of SQL, which is more to load than the samples. */
const sql = [
  { type: 'cmnt', match: /--.*/g },
  { expand: 'str' },
  { type: 'kwd', match: /\b(CREATE|SECRET|TYPE|SCOPE|EXTRA_HTTP_HEADERS|MAP|SET|FROM)\b/g },
  { type: 'bool', match: /\b(true|false)\b/g },
]
const GRAMMARS = { curl: bash, sh: bash, javascript: ts, json, python: py, sql }

const isKnown = (language: string): language is keyof typeof GRAMMARS => language in GRAMMARS

/** Splits code into its tokens. Leaves code whole whose language has no grammar. */
export function highlight(code: string, language: string): (Node | string)[] {
  if (!isKnown(language)) return [code]
  const parts: (Node | string)[] = []
  const addToken = (text: string, type?: string) => {
    parts.push(type === undefined ? text : createElement('span', { class: `code-${type}` }, [text]))
  }
  // @ts-expect-error The library's types do not support exactOptionalPropertyTypes.
  tokenizeWith(code, GRAMMARS[language], addToken, { languages: { js: ts } })
  return parts
}
