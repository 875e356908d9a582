export {
  type Brands,
  type BrandsPage,
  type ChangedDay,
  type ChangesWindow,
  ExportApi,
  type MetricRow,
  type MetricWindow,
} from './client.ts'
export type { DaysPage, DaysQuery } from './days.ts'
export { decimalText } from './decimal.ts'
export {
  BadRequestError,
  ConnectionError,
  ExportApiError,
  ForbiddenError,
  NotFoundError,
  RateLimitError,
  ServerError,
  UnauthorizedError,
} from './errors.ts'
export type { ClientOptions, Retry } from './options.ts'
export type { Endpoint, Page } from './pages.ts'
export type * from './types.ts'
