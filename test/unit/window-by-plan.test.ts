import { expect, test } from 'vitest'
import { windowByPlan } from '../../lib/window-by-plan.ts'

test('sends one window for each paid plan', () => {
  const windowOf = (plan: string) => ({ first: `first of ${plan}`, last: 'last', end: 'end' })
  expect(JSON.parse(windowByPlan(windowOf))).toEqual({
    pro: { first: 'first of pro', last: 'last', end: 'end' },
    agency: { first: 'first of agency', last: 'last', end: 'end' },
    enterprise: { first: 'first of enterprise', last: 'last', end: 'end' },
  })
})
