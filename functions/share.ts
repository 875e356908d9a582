import { share } from '../lib/share/share.ts'

export default share()
