import { publisher } from '../lib/share/publisher.ts'

export default publisher()
