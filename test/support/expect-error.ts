import { expect } from 'vitest'
import type { Answer } from './call.ts'

const SENTENCE = /^[A-Z][^\n]{9,199}\.$/
const INSIDES = /svc_live_|select\b|insert\b|postgres|neon|drizzle|redis|\bat .+:\d+|Error:/i

/** Expects JSON with one member: a sentence that reveals nothing internal. */
export function expectError(answer: Answer, status: number): void {
  expect(answer.status, answer.text.slice(0, 200)).toBe(status)
  expect(answer.headers.get('Content-Type')).toBe('application/json')
  expect(Object.keys(JSON.parse(answer.text))).toEqual(['error'])
  expect(answer.error).toMatch(SENTENCE)
  expect(answer.error).not.toMatch(INSIDES)
}
