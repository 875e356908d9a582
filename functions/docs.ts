import { site } from '../lib/site.ts'
import { files } from './docs/files.ts'

export default site({ path: '/docs', files })
