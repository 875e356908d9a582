import { refresher } from '../lib/refresh/refresh.ts'

export default refresher()
