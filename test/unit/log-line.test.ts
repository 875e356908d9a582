import { expect, onTestFinished, test, vi } from 'vitest'
import { readableLine } from '../../emulator/log-line.ts'
import { terminalLog } from '../../emulator/terminal-log.ts'

const request = {
  event: 'request',
  request_id: 'a',
  method: 'GET',
  endpoint: '/visibility',
  status: 200,
  ms: 52,
}

test.for([
  [{ ...request, rows: 744 }, 'GET /visibility 200 744 rows 52 ms'],
  [{ ...request, status: 401, rows: null }, 'GET /visibility 401 52 ms'],
  [{ ...request, method: 'POST', endpoint: null, status: 404, rows: null }, 'POST unknown path 404 52 ms'],
  [
    { ...request, event: 'file', outcome: 'complete', status: null, rows: 31 },
    'file /visibility complete 31 rows 52 ms',
  ],
  [
    { event: 'database_error', request_id: 'a', source: 'neon', neon_status: 500, code: null },
    'database_error source=neon neon_status=500',
  ],
] as const)('%j is a line to read', ([log, line]) => {
  expect(readableLine(JSON.stringify(log))).toBe(line)
})

test('a terminal has a line for each kind of request of a burst, and none for what the service does by itself', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const log = terminalLog((line) => lines.push(line))
  const burst = [
    ...[request, request, { ...request, status: 429 }, request],
    ...[{ event: 'published' }, { event: 'refreshed', days: 1 }, { event: 'database_error' }],
  ]
  for (const event of burst) log(JSON.stringify(event))
  vi.runAllTimers()
  log(JSON.stringify(request))
  vi.runAllTimers()
  const [ok, limited] = ['GET /visibility 200 52 ms', 'GET /visibility 429 52 ms']
  expect(lines).toEqual([ok, limited, 'database_error', '… 2 more like these', ok])
})
