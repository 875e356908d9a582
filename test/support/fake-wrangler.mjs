// Replaces wrangler in tests: appends each call, with the files that it names, to the file in FAKE_WRANGLER. A deployment
// of the Worker in FAKE_WRANGLER_FAILS fails.
import { appendFileSync, readFileSync } from 'node:fs'

const args = process.argv.slice(2)
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const read = (path) => (path === undefined ? undefined : JSON.parse(readFileSync(path, 'utf8')))

const secrets = read(option('--secrets-file'))
const call = { args, worker: option('--env'), config: read(option('--config')), secrets }
appendFileSync(process.env.FAKE_WRANGLER, `${JSON.stringify(call)}\n`)
if (call.worker === process.env.FAKE_WRANGLER_FAILS) {
  console.error(`✘ [ERROR] A request to the Cloudflare API failed: ${secrets?.CURSOR_SECRET}`)
  process.exitCode = 1
}
