import { expect, test } from 'vitest'
import { toQuery } from '../../lib/prepared-statement.ts'
import { dayOfWindow, windowByPlan, windows } from '../../lib/window-by-plan.ts'

test('sends one window for each paid plan', () => {
  const windowOf = (plan: string) => ({ first: `first of ${plan}`, last: 'last', end: 'end' })
  expect(JSON.parse(windowByPlan(windowOf))).toEqual({
    pro: { first: 'first of pro', last: 'last', end: 'end' },
    agency: { first: 'first of agency', last: 'last', end: 'end' },
    enterprise: { first: 'first of enterprise', last: 'last', end: 'end' },
  })
})

test('the statement picks the window of the plan that it finds', () => {
  expect(toQuery(windows)).toMatchObject({
    sql: '(select $1::jsonb as by_plan) as windows',
    params: [{ name: 'window_by_plan' }],
  })
  expect(toQuery(dayOfWindow('first')).sql).toBe(`(windows.by_plan -> access.plan ->> 'first')::date`)
})
