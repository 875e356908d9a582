import { expect, test } from 'vitest'
import { ERRORS, HttpError, httpError, PARAMETER_ERRORS, parameterError } from '../../lib/errors.ts'

test('each error has its status and message', () => {
  expect(ERRORS).toEqual({
    unknownPath: {
      status: 404,
      message: 'Not found. See /api/export/v1/openapi.json for the available paths.',
    },
    method: { status: 405, message: 'Method not allowed. Use GET or HEAD.' },
    budget: {
      status: 429,
      message:
        'Rate limit of 100 requests per minute exceeded. Wait the number of seconds in Retry-After, then retry.',
    },
    key: {
      status: 401,
      message: 'API key missing or invalid. Send an active export key in the X-API-Key header.',
    },
    plan: {
      status: 403,
      message:
        'The organization has no active plan that includes the Export API. Ask its owner to activate one.',
    },
    brand: {
      status: 404,
      message: 'Brand not found for this API key. Use an id from /api/export/v1/brands.',
    },
    database: { status: 503, message: 'Temporarily unavailable. Retry the request.' },
    internal: {
      status: 500,
      message: 'Internal error. Retry once; if it fails again, report the X-Request-Id.',
    },
  })
})

test('each parameter error has its message', () => {
  const { repeated, missing, ...others } = PARAMETER_ERRORS
  expect(repeated('toDate')).toBe('Parameter toDate is repeated. Send it once.')
  expect(missing('brandId')).toBe('Parameter brandId is missing. Add it to the query string.')
  expect(others).toEqual({
    brandId: 'Parameter brandId must be a UUID. Use an id from /api/export/v1/brands.',
    fromDate:
      'Parameter fromDate must be a calendar date in the format YYYY-MM-DD. Leave it out for the default.',
    toDate:
      'Parameter toDate must be a calendar date in the format YYYY-MM-DD. Leave it out for the default.',
    since:
      'Parameter since must be a time in the format YYYY-MM-DDTHH:MM:SS.ssssssZ. Send a changed_at unchanged, or leave it out for all changes.',
    lacksFromDate: 'Parameter fromDate is missing. It is required when toDate is more than 30 days ago.',
    order: 'Parameter fromDate must not be later than toDate.',
    cursor:
      'Parameter cursor is invalid. Send nextCursor unchanged, with the same path and the other parameters of the first page.',
    format: 'Parameter format must be json, csv or ndjson. Leave it out for json.',
    cursorOfFile: 'Parameter cursor does not apply to csv and ndjson, which have all rows. Leave it out.',
    tooManyRows:
      'The window has more than 2,000,000 rows, the most that a file holds. Shorten it with fromDate and toDate.',
  })
})

test('an error of the catalogue may have headers; a parameter error is a 400', () => {
  expect(httpError('database', { 'Retry-After': '5' })).toMatchObject({
    status: 503,
    message: 'Temporarily unavailable. Retry the request.',
    headers: { 'Retry-After': '5' },
  })
  expect(parameterError('Wrong.')).toMatchObject({ status: 400, message: 'Wrong.', headers: {} })
  expect(parameterError('Wrong.')).toBeInstanceOf(HttpError)
})
