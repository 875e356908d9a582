import { sharing } from '../lib/share/sharing.ts'

export default sharing()
