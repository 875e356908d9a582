import { files } from '../docs/files.ts'
import { site } from '../lib/site.ts'

export default site({ path: '/docs', files })
