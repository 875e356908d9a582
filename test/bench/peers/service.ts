import { BINDINGS } from '../../../emulator/bindings.ts'
import { startEmulator } from '../../../emulator/start.ts'
import { listening, told } from './listening.ts'

// The service as `npm start` runs it on real servers, at rest: no refresh runs meanwhile.
const { databaseUrl, redisUrl } = told()
const { CURSOR_SECRET } = BINDINGS
const { url } = await startEmulator({
  host: '127.0.0.1',
  port: 0,
  databaseUrl,
  redisUrl,
  crons: false,
  vars: { CURSOR_SECRET },
})
listening(url)
