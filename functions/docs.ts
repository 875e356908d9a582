import { BASE } from '../lib/app.ts'
import { site } from '../lib/site.ts'
import { files } from '../site/files.ts'

export default site({ path: '/docs', aliases: ['/', '/docs', '/docs/', `${BASE}/docs/`], files })
