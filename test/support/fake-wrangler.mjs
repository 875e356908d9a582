// Stands in for wrangler where there is no Cloudflare: it keeps what it was told, and the versions of each Worker, in
// the file that FAKE_WRANGLER names.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

const FILE = process.env.FAKE_WRANGLER
const args = process.argv.slice(2)
const state = JSON.parse(readFileSync(FILE, 'utf8'))

const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const read = (path) => (path === undefined ? undefined : JSON.parse(readFileSync(path, 'utf8')))
const worker = option('--env')
const versions = state.versions[worker] ?? []
const deployments = state.deployments[worker] ?? []
const instant = () => new Date(Date.UTC(2026, 0, 1) + state.calls.length * 1000).toISOString()

const deploy = (id) => {
  deployments.push({ created_on: instant(), versions: [{ version_id: id, percentage: 100 }] })
}

const COMMANDS = {
  whoami: () => console.log(JSON.stringify(state.who)),
  deploy: () => {
    const id = `${worker}-${versions.length + 1}`
    versions.push({
      id,
      metadata: { created_on: instant() },
      annotations: { 'workers/tag': option('--tag') },
    })
    deploy(id)
  },
  rollback: () => deploy(args[1]),
  versions: () => console.log(JSON.stringify(versions)),
  deployments: () => console.log(JSON.stringify(deployments)),
}

// Several may list at once: only what changes something is kept.
const lists = ['versions', 'deployments'].includes(args[0])
const fails = state.fails.includes(worker) && !lists
if (fails) {
  console.error('✘ [ERROR] A request to the Cloudflare API failed.')
  console.error(`\n  ${state.reason}\n\n  If you think this is a bug, tell us`)
} else COMMANDS[args[0]]()
if (!lists) {
  state.calls.push({
    args,
    stdin: readFileSync(0, 'utf8'),
    config: read(option('--config')),
    secrets: read(option('--secrets-file')),
  })
  if (worker !== undefined) Object.assign(state.versions, { [worker]: versions })
  if (worker !== undefined) Object.assign(state.deployments, { [worker]: deployments })
  writeFileSync(`${FILE}.new`, JSON.stringify(state))
  renameSync(`${FILE}.new`, FILE)
}
process.exit(fails || (args[0] === 'whoami' && !state.who.loggedIn) ? 1 : 0)
