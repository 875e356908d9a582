import { document } from '../lib/http/document.ts'
import description from './openapi.json' with { type: 'json' }

export default document({ path: '/openapi.json', description })
