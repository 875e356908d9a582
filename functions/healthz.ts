import { health } from '../lib/health.ts'

export default health({ path: '/healthz' })
