import { sharedFiles } from '../lib/share/files.ts'

export default sharedFiles()
