import { expect, test } from 'vitest'
import { indentJson } from '../../site/browser/json.ts'

test('indented JSON keeps the text of numbers, and punctuation in strings', () => {
  expect(indentJson('{"data":[{"a":100.0000,"b":"x{,:\\"}"},{"a":null,"b":""}],"c":[],"d":{}}')).toBe(`{
  "data": [
    {
      "a": 100.0000,
      "b": "x{,:\\"}"
    },
    {
      "a": null,
      "b": ""
    }
  ],
  "c": [],
  "d": {}
}`)
})

test('indented JSON keeps the values where the browser lacks JSON.rawJSON, and text that is not JSON', () => {
  const rawJSON = Object.getOwnPropertyDescriptor(JSON, 'rawJSON')
  Reflect.deleteProperty(JSON, 'rawJSON')
  expect(indentJson('{"a":100.0000}')).toBe('{\n  "a": 100\n}')
  if (rawJSON) Object.defineProperty(JSON, 'rawJSON', rawJSON)
  expect(indentJson('<html>{"a":1}')).toBe('<html>{"a":1}')
})
