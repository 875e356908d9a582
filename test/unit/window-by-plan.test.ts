import { expect, test } from 'vitest'
import { windowByPlan } from '../../lib/page/window-by-plan.ts'

test('sends the days of one window for each paid plan', () => {
  const windowOf = (plan: string) => ({ first: `first of ${plan}`, last: 'last', end: 'end' })
  expect(JSON.parse(windowByPlan(windowOf))).toEqual({
    pro: { first: 'first of pro', last: 'last' },
    agency: { first: 'first of agency', last: 'last' },
    enterprise: { first: 'first of enterprise', last: 'last' },
  })
})
