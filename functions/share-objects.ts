import { sharedObjects } from '../lib/share/objects.ts'

export default sharedObjects()
