import { type Bindings, send } from '../way.ts'

/** Sends the service's page as a constant: the least that a Worker can do. */
export default { fetch: (_request: Request, { PAGE }: Bindings): Response => send(PAGE) }
