import { refresher } from '../lib/refresh.ts'

export default refresher()
