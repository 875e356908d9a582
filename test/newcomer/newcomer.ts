// Plays someone who has a machine with Node 20, and reads the README for the first time. `node test/newcomer/newcomer.ts
// FOLDER` clones this checkout into FOLDER, and prints how long the first minute takes. CI runs it, and npm test there.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
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

await step('stops the service', async () => {
  const { code } = await service.interrupt()
  expect(code === 0 || code === 130, `npm start ended with ${code}`)
})

await step('starts again, with what is there', async () => {
  const begin = performance.now()
  await service.start(start, /Press Ctrl-C\./)
  await answer(String(requests[1]))
  report('From the second npm start to the first answer', begin)
  await service.interrupt()
})

await Promise.all([service.close(), client.close()])

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
