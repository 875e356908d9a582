import { site } from '../lib/site.ts'
import { files } from '../site/files.ts'

export default site({ path: '/docs', files })
