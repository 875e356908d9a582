import { endpoint, type Worker } from './endpoint.ts'

/** An endpoint that answers everybody with one fixed JSON text: the path, the method and the rate budget are its only gates. */
export function document({ path, body }: { path: string; body: string }): Worker {
  return endpoint({ path, budget: 'before', answer: async () => ({ body, lasting: true }) })
}
