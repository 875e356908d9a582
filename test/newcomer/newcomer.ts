// Plays someone who has a machine with Node 20, and reads the README for the first time. `node test/newcomer/newcomer.ts
// FOLDER` clones this checkout into FOLDER, and prints how long the first minute takes. CI runs it, and npm test there.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import commands from '../../cli/commands.json' with { type: 'json' }
import { freePort } from '../../cli/local/port.ts'
import { openTerminal } from './terminal.ts'

const [folder = ''] = process.argv.slice(2)
const README = new URL('../../README.md', import.meta.url)
const CLONED = join(resolve(folder), 'export-api')

/** The README has the default port, which may be in use here. */
const port = String(await freePort())
const lines = await readConsoleLines()
const [clone = '', start = '', ...requests] = lines
const last = requests.pop()
expect(clone.startsWith('git clone <address> '), `The first line of the README is ${clone}`)
expect(
  start === 'npm start' && last === 'npm test',
  'The README starts with npm start and ends with npm test',
)

const service = await openTerminal(resolve(folder), { PORT: port })
const client = await openTerminal(resolve(folder))

await step('clones', async () => {
  await service.run(clone.replace('<address>', resolve('.')))
  for (const terminal of [service, client]) await terminal.run(`cd ${CLONED}`)
})

await step('asks for help, which installs nothing', async () => {
  for (const name of Object.keys(commands)) await help(name)
  expect(!existsSync(join(CLONED, 'node_modules')), 'Help has installed packages')
})

await step('interrupts the first install', async () => {
  await service.start(start, /Installing packages: \d+ %/)
  const { code, screen } = await service.interrupt()
  expect(code === 130 && screen.includes('The next start installs the packages.'), screen)
  expect(!(await readdir(CLONED)).some((name) => name.startsWith('.installing')), 'The lock is still there')
})

await step('starts', async () => {
  const begin = performance.now()
  const banner = await service.start(start, /➜ Page.*Press Ctrl-C\./s)
  expect(banner.split('\n').length <= 8, `The banner has more than eight lines:\n${banner}`)
  const [key, request] = requests
  expect(banner.includes(`${key}\n${request}`), 'The request of the banner is not the one of the README')
  await client.run(String(key))
  await answer(String(request))
  report('From npm start to the first answer, with the install', begin)
  const { screen } = await client.run('du -sm node_modules')
  console.log(`  It installed ${/\d+/.exec(screen)?.[0]} MB.`)
})

await step('follows the README', async () => {
  for (const line of requests) await answer(line)
  expect(
    (await service.see(/GET \/sentiment 200 .*/)) !== '',
    'The terminal of the service shows the requests',
  )
})

await step('opens the page and the report', async () => {
  const page = await client.run(`curl -sL http://127.0.0.1:${port}/docs`)
  expect(page.screen.includes('svc_live_de30'), 'The page does not know the demo key')
  expect(existsSync(join(CLONED, 'copy/report.html')), 'There is no report')
})

await step('copies again, when nothing has changed', async () => {
  const { code, screen } = await client.run('npm run sync')
  expect(code === 0 && /Nothing changed\./.test(screen), screen)
})

await step('makes mistakes', async () => {
  const wrong = await client.run(String(requests[1]).replace('$KEY', 'svc_live_wrong'))
  expect(/^\{"error":"/m.test(wrong.screen), wrong.screen)
  const second = await client.run(`PORT=${port} ${start}`)
  expect(second.code === 1 && second.screen.includes(`Port ${port} on 127.0.0.1 is in use.`), second.screen)
  const unknown = await client.run('npm start -- --frsh')
  expect(unknown.code === 64 && /^Unknown option '--frsh'/m.test(unknown.screen), unknown.screen)
  const exposed = await client.run('HOST=0.0.0.0 PORT=0 npm start')
  expect(exposed.code === 1 && /--allow-network/.test(exposed.screen), exposed.screen)
})

await step('stops the service, and copies without it', async () => {
  const { code } = await service.interrupt()
  expect(code === 0 || code === 130, `npm start ended with ${code}`)
  const { code: failed, screen } = await client.run('npm run sync')
  expect(failed !== 0 && /npm start/.test(screen), screen)
  const away = await client.run('EXPORT_API_URL=http://127.0.0.1:9 EXPORT_API_KEY=$KEY npm run sync')
  expect(away.code === 2 && /EXPORT_API_URL/.test(away.screen), away.screen)
})

await step('starts again, with what is there', async () => {
  const begin = performance.now()
  await service.start(start, /Press Ctrl-C\./)
  await answer(String(requests[1]))
  report('From the second npm start to the first answer', begin)
  await service.interrupt()
})

await step('asks every command for its options, and mistypes one', async () => {
  for (const name of Object.keys(commands)) {
    await help(name)
    const { code, screen } = await client.run(`npm run ${name} -- --no-such-option`)
    expect(code === 64, `${name} ended with ${code}:\n${screen}`)
  }
})

await Promise.all([service.close(), client.close()])

async function help(name: string): Promise<void> {
  const { code, screen } = await client.run(`npm run ${name} -- --help`)
  expect(code === 0 && /^Usage: /m.test(screen), `${name} --help ended with ${code}:\n${screen}`)
}

/** Runs a line of the README, which must end well. What it prints fits on a screen. */
async function answer(line: string): Promise<void> {
  const { code, screen } = await client.run(line)
  expect(code === 0, `${line} ended with ${code}:\n${screen}`)
  expect(!line.startsWith('curl') || !screen.includes('"error"'), screen)
  expect(screen.split('\n').length <= 40, `${line} prints more than a screen:\n${screen}`)
}

/** Reads the lines to type: those of the README's console blocks that begin with $. */
async function readConsoleLines(): Promise<string[]> {
  const blocks = [...(await readFile(README, 'utf8')).matchAll(/^```console\n(.*?)^```/gms)]
  const typed = blocks.flatMap(([, block = '']) => [...block.matchAll(/^\$ (.+)$/gm)])
  return typed.map(([, line = '']) => line.replace('8787', port))
}

async function step(name: string, work: () => Promise<void>): Promise<void> {
  console.log(`The newcomer ${name}.`)
  await work()
}

function report(what: string, begin: number): void {
  console.log(`  ${what}: ${Math.round(performance.now() - begin)} ms on this machine's Node.`)
}

function expect(holds: boolean, message: string): void {
  if (!holds) throw new Error(message)
}
