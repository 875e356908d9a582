import bash from '@speed-highlight/core/languages/bash.js'
import json from '@speed-highlight/core/languages/json.js'
import py from '@speed-highlight/core/languages/py.js'
import sql from '@speed-highlight/core/languages/sql.js'
import ts from '@speed-highlight/core/languages/ts.js'
import { tokenizeWith } from '@speed-highlight/core/tokenize'
import { element } from './dom.ts'

const GRAMMARS = { curl: bash, json, python: py, sql, typescript: ts }

/** Longer texts stay plain: nobody reads them whole, and a phone would take long to colour them. */
const LONGEST = 60_000

/** Shows code in an element, coloured. */
export function showCode(place: Element, code: string, language: keyof typeof GRAMMARS): void {
  if (code.length > LONGEST) {
    place.replaceChildren(code)
    return
  }
  const parts: (Node | string)[] = []
  const keep = (text: string, type?: string) => {
    parts.push(type === undefined ? text : element('span', { class: `code-${type}` }, [text]))
  }
  // @ts-expect-error Its types were written without exactOptionalPropertyTypes, and its grammars miss them by that.
  tokenizeWith(code, GRAMMARS[language], keep, { languages: { js: ts } })
  place.replaceChildren(...parts)
}
