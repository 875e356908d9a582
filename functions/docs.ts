import { BASE } from '../lib/http/app.ts'
import { site } from '../lib/http/site.ts'
import { files } from '../site/files.ts'

export default site({ path: '/docs', aliases: ['/', '/docs', '/docs/', `${BASE}/docs/`], files })
