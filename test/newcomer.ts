// Plays someone who has a machine with Node 20, and reads the README for the first time. `node test/newcomer.ts FOLDER`
// clones this checkout into FOLDER, and types the lines of the README in terminals of 80 columns. CI runs it, and npm test there.
import { ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { freePort } from '../cli/local/port.ts'

const folder = resolve(process.argv[2] ?? '')
const cloned = join(folder, 'export-api')
const PROMPT = '❯ '

/** The README has the default port, which may be in use here. */
const port = String(await freePort())
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const lines = [...readme.matchAll(/^```sh\n(.*?)\n```/gms)].flatMap(([, block = '']) =>
  block.replaceAll('8787', port).split('\n'),
)
const [clone = '', start = '', ...requests] = lines
ok(clone.startsWith('git clone <address> '), `The first line of the README is ${clone}`)
ok(start === 'npm start' && requests.pop() === 'npm test', 'It starts with npm start and ends with npm test')

await type([clone.replace('<address>', resolve('.'))], folder).ended
const service = type([start], cloned)
const [banner = ''] = await service.prints(/➜ Page.*Press Ctrl-C\./s)
ok(banner.split('\n').length <= 8, `The banner has more than eight lines:\n${banner}`)
const [key = '', request = ''] = requests
ok(banner.includes(`${key}\n${request}`), 'The request of the banner is not the one of the README')
await type([...requests, `curl -sL http://127.0.0.1:${port}/docs | grep svc_live_de30`], cloned).ended
await service.prints(/GET \/sentiment 200 .*/)
ok(existsSync(join(cloned, 'copy/report.html')), 'There is no report')
await service.interrupt()

const again = type([start], cloned)
await again.prints(/Press Ctrl-C\./)
await type([key, request], cloned).ended
await again.interrupt()

/** Types command lines into a new terminal, one after the other. What they print is fit for a person, or the process ends. */
function type(commands: readonly string[], cwd: string) {
  const begin = performance.now()
  const script = commands.map((command) => `echo "${PROMPT}"'${command.replaceAll("'", '"')}'\n${command}\n`)
  const { PATH, HOME } = process.env
  const shell = spawn('script', ['-qefc', `stty cols 80; set -e\n${script.join('')}`, '/dev/null'], {
    cwd,
    env: { PATH, HOME, PORT: port, TERM: 'xterm-256color' },
  })
  // script ends what runs in it.
  process.on('exit', () => shell.kill('SIGTERM'))
  let received = ''
  shell.stdout.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  // A line that is drawn again begins with a move to the first column.
  const shown = () =>
    stripVTControlCharacters(received.replaceAll('\u001b[1G', '\r')).replaceAll('\r\n', '\n')
  const ended = new Promise<void>((done) => {
    shell.on('close', (code) => {
      ok(code === 0 || (code === 130 && shown().includes('^C')), `It ended with ${code}:\n${shown()}`)
      for (const part of shown().split(PROMPT).slice(1)) check(part)
      console.log(`${commands[0]}: ${Math.round(performance.now() - begin)} ms on this machine's Node.`)
      done()
    })
  })
  const prints = async (text: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = text.exec(shown())
      if (found) return found
      ok(shell.exitCode === null, `It ended before ${text}:\n${shown()}`)
      await sleep(100)
    }
  }
  const interrupt = () => {
    shell.stdin.write('\x03')
    return ended
  }
  return { ended, prints, interrupt }
}

/** Throws for what no person should see of a command: a wide line, more than a screen, a stack trace, an error. */
function check(part: string): void {
  const [command = '', ...printed] = part.trimEnd().split('\n')
  ok(command === start || printed.length <= 40, `It prints more than a screen:\n${part}`)
  // What curl receives may be wide.
  const isCurl = command.startsWith('curl')
  ok(!isCurl || !part.includes('"error"'), part)
  const shown = isCurl ? [] : printed.flatMap((line) => line.split('\r'))
  ok(!shown.some((line) => line.length > 80), `A line is wider than 80 columns:\n${part}`)
  const isTrace = /^\s+at .*[:(]\S*:\d+:\d+\)?$|^Node\.js v\d|^\(node:\d+\) .*Warning|^Traceback/
  ok(!shown.some((line) => isTrace.test(line)), `A stack trace:\n${part}`)
}
