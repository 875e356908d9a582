import { site } from '../lib/site.ts'
import { llms } from '../site/files.ts'

export default site({ path: '/llms.txt', files: llms })
