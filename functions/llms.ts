import { site } from '../lib/http/site.ts'
import { llms } from '../site/files.ts'

export default site({ path: '/llms.txt', files: llms })
