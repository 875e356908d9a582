import { health } from '../lib/http/health.ts'

export default health({ path: '/healthz' })
