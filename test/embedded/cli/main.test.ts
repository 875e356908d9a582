import { type ChildProcess, execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import commands from '../../../cli/commands.json' with { type: 'json' }
import manifest from '../../../package.json' with { type: 'json' }

// The start of every npm script, in a folder that has nothing but its files and an npm that installs nothing.

/** What runs before anything is installed. */
const FILES = [
  'cli/main.mjs',
  'cli/local/help.mjs',
  'cli/install.mjs',
  'cli/program.mjs',
  'cli/local/pid-lock.mjs',
  'cli/local/print-error.mjs',
  'cli/local/disk-errors.mjs',
]

const COMMANDS = {
  hello: { module: 'hello.ts' },
  all: { module: 'hello.ts', packages: 'all' },
  fails: { description: 'Runs programs.', programs: [['sh', '-c', 'exit 3'], ['never']] },
}

/** Logs its arguments, and installs what install.mjs looks for. Fails, or waits for a signal, when a file says so. */
const NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
process.on('SIGTERM', () => process.exit(9))
process.on('SIGINT', () => process.exit(9))
appendFileSync('npm.log', process.argv.slice(2, 4).join(' ') + '\\n')
if (existsSync('error')) {
  console.error(readFileSync('error', 'utf8'))
  process.exit(7)
}
if (existsSync('waits')) setInterval(() => existsSync('waits') || process.exit(9), 50)
else {
  await new Promise((resolve) => setTimeout(resolve, 300))
  mkdirSync('node_modules/.bin', { recursive: true })
  if (process.argv.includes('--include=dev')) writeFileSync('node_modules/.bin/node', '')
  writeFileSync('node_modules/.package-lock.json', '{}')
}`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'main-'))
  for (const file of FILES) {
    await mkdir(join(folder, dirname(file)), { recursive: true })
    await cp(file, join(folder, file))
  }
  await writeFile(join(folder, 'cli/commands.json'), JSON.stringify(COMMANDS))
  await writeFile(join(folder, 'hello.ts'), `console.log('hello', ...process.argv.slice(2))`)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'package-lock.json'), '{}')
  await writeFile(join(folder, 'npm.mjs'), NPM)
})

afterEach(() => rm(folder, { recursive: true }))

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

function start(
  args: readonly string[],
  nodeOptions: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const env = { ...environment, PATH: process.env.PATH, npm_execpath: join(folder, 'npm.mjs') }
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  const child = execFile(
    process.execPath,
    [...nodeOptions, 'cli/main.mjs', ...args],
    { cwd: folder, env },
    (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
  )
  return { child, ended }
}

const main = (...args: string[]): Promise<Ended> => start(args).ended

const installs = async () => (await readFile(join(folder, 'npm.log'), 'utf8')).trimEnd().split('\n')

const say = (file: 'error' | 'waits', text = '') => writeFile(join(folder, file), text)

test('every npm script has its description, and every description its script', () => {
  expect(manifest.scripts).toEqual(
    Object.fromEntries(Object.keys(commands).map((name) => [name, `node cli/main.mjs ${name}`])),
  )
})

test('two commands at once install once, and a third finds everything installed', async () => {
  const ended = await Promise.all([main('hello'), main('hello', '--loud')])
  expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, 'hello\n'],
    [0, 'hello --loud\n'],
  ])
  expect(await main('hello')).toEqual({ code: 0, stdout: 'hello\n', stderr: '' })
  expect(await installs()).toEqual(['ci --omit=dev'])
  expect(await readdir(folder)).not.toContain('.installing')
})

test('a command that needs more packages adds them, and removes none', async () => {
  for (const name of ['hello', 'all', 'hello']) expect(await main(name)).toMatchObject({ code: 0 })
  await utimes(join(folder, 'node_modules/.package-lock.json'), 0, 0)
  await main('hello')
  expect(await installs()).toEqual(['ci --omit=dev', 'install --no-save', 'ci --include=dev'])
})

test.for([
  'SIGINT',
  'SIGTERM',
  'SIGKILL',
] as const)('after %s in the middle of an install, the next start installs', async (signal) => {
  await say('waits')
  const { child, ended } = start(['hello'])
  await expect.poll(installs).toHaveLength(1)
  child.kill(signal)
  const { code, stderr } = await ended
  if (signal !== 'SIGKILL') {
    expect({ code, stderr }).toEqual({
      code: signal === 'SIGINT' ? 130 : 143,
      stderr: expect.stringMatching(/Stopping the installation …\nThe next start installs the packages.\n$/),
    })
    expect(await readdir(folder)).not.toContain('.installing')
  }
  await rm(join(folder, 'waits'))
  expect(await main('hello')).toMatchObject({ code: 0, stdout: 'hello\n' })
})

test('waits for an install that runs, and says for which', async () => {
  await say('waits')
  const first = start(['hello'])
  await expect.poll(installs).toHaveLength(1)
  const second = start(['hello'])
  let stderr = ''
  second.child.stderr?.on('data', (text) => {
    stderr += text
  })
  await expect.poll(() => stderr).toContain(`Another install is running (pid ${first.child.pid}).`)
  await rm(join(folder, 'waits'))
  first.child.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0, stdout: 'hello\n' })
})

test.for([
  ['npm error code ENOTFOUND', /^The package registry cannot be reached \(ENOTFOUND\)\. Check the network/m],
  ['npm error code EROFS', /^The packages were not installed: .*Use a folder that you can write to\.$/m],
  ['npm error code ENOSPC\nnpm error path /cache', /installed: \/cache\. The disk is full\./],
  ['npm error something else', /^npm error something else\nThe packages were not installed\./m],
] as const)('an install that fails with "%s" says what to do', async ([error, sentence]) => {
  await say('error', error)
  expect(await main('hello')).toEqual({ code: 7, stdout: '', stderr: expect.stringMatching(sentence) })
  expect(await readdir(folder)).not.toContain('.installing')
})

test('--help installs nothing', async () => {
  for (const [name, text] of [
    ['hello', 'Run it once, or npm ci'],
    ['fails', 'Runs programs.'],
  ] as const)
    expect(await main(name, '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Usage: npm run ${name} -- \\[options\\]\\n\\n${text}`)),
    })
  expect(await readdir(folder)).not.toContain('npm.log')
})

test('a module describes its options when its packages are installed', async () => {
  await main('hello')
  expect(await main('hello', '--help')).toMatchObject({ code: 0, stdout: 'hello --help\n' })
})

test.for([
  ['an unknown option', ['start', '--frsh'], {}, "Unknown option '--frsh'. Did you mean --fresh?"],
  [
    'an option that npm has taken',
    ['start'],
    { npm_config_fresh: 'true' },
    'npm takes --fresh for its own. Write -- before it.',
  ],
  ['an option of programs', ['check', '--fix'], {}, "Unknown option '--fix'."],
] as const)('%s is one sentence', async ([, args, taken, sentence]) => {
  const env = { PATH: process.env.PATH, ...taken }
  const result = await promisify(execFile)(process.execPath, ['cli/main.mjs', ...args], { env }).catch(
    (error) => error,
  )
  const usage = args[0] === 'start' ? 'npm start --' : 'npm run check --'
  expect(result).toMatchObject({ code: 64, stdout: '', stderr: `${sentence} See ${usage} --help.\n` })
})

test('an older Node is one sentence before anything is installed', async () => {
  const older = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '18.20.2' })"
  expect(await start(['hello'], ['--import', older]).ended).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Export API needs Node 20.12 or later, and this is Node 18.20.2. Install a newer Node and try again.\n',
  })
  expect(await readdir(folder)).not.toContain('npm.log')
})

test('packages behind a link are those of another checkout', async () => {
  await mkdir(join(folder, 'other'))
  await symlink(join(folder, 'other'), join(folder, 'node_modules'))
  expect(await main('hello')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^node_modules is a link/),
  })
  expect(await readdir(folder)).not.toContain('npm.log')
})

test('a lock that is a link to a folder is one sentence, and nothing in the folder is deleted', async () => {
  await mkdir(join(folder, 'other'))
  await writeFile(join(folder, 'other/1'), '')
  await symlink(join(folder, 'other'), join(folder, '.installing'))
  expect(await main('hello')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\.installing is not/),
  })
  expect(await readdir(join(folder, 'other'))).toEqual(['1'])
  expect(await readdir(folder)).not.toContain('npm.log')
})

test('the first program that fails ends the command', async () => {
  expect(await main('fails')).toMatchObject({ code: 3 })
})
