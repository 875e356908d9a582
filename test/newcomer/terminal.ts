import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import xterm from '@xterm/headless'

const run = promisify(execFile)

const COLUMNS = 80
const POLL_MS = 100

/** No program prints it. A response of curl does not end its last line. */
const PROMPT = '❯'

/** The polls without output that count as silence: thirty seconds where a process starts within a poll. */
const SILENT_POLLS = 300

/** A shell in a pseudo-terminal of 80 columns, as a person sees it. */
export type Terminal = {
  /** Runs a command line, and waits for its end. Returns its exit code and what is on the screen of it. */
  readonly run: (line: string) => Promise<{ code: number; screen: string }>
  /** Types a command line that goes on, and waits until the screen shows a text of it. */
  readonly start: (line: string, text: RegExp) => Promise<string>
  /** Waits until the screen shows a text of the command that goes on. */
  readonly see: (text: RegExp) => Promise<string>
  /** Presses Ctrl-C, and waits for the end of the command that goes on. Returns its exit code. */
  readonly interrupt: () => Promise<{ code: number; screen: string }>
  readonly close: () => Promise<void>
}

type Environment = Readonly<Record<string, string>>

/** Opens a terminal. Its methods throw for a line that wraps, a stack trace, and thirty seconds without output. */
export async function openTerminal(cwd: string, environment: Environment = {}): Promise<Terminal> {
  const { PATH, HOME } = process.env
  const shell = spawn('script', ['-qefc', `stty cols ${COLUMNS} rows 50; exec sh`, '/dev/null'], {
    cwd,
    env: { ...environment, PATH, HOME, TERM: 'xterm-256color', PS1: `${PROMPT} ` },
  })
  // Closes the terminal also when this process ends with an error: script ends what runs in it.
  process.on('exit', () => shell.kill('SIGTERM'))
  const screen = new xterm.Terminal({ cols: COLUMNS, rows: 50, scrollback: 10_000, allowProposedApi: true })
  let received = 0
  shell.stdout.on('data', (bytes) => {
    received += 1
    screen.write(bytes)
  })
  /** The line of the screen on which the command begins. */
  let begin = 0

  const shown = async () => {
    await new Promise<void>((resolve) => screen.write('', resolve))
    const lines = Array.from({ length: screen.buffer.active.length }, (_, index) =>
      screen.buffer.active.getLine(index),
    )
    return lines
      .slice(begin)
      .map((line) => ({ text: line?.translateToString(true) ?? '', isWrapped: line?.isWrapped }))
  }

  /** Waits until `find` finds something in the lines of the command. */
  async function until<Found>(what: string, find: (text: string) => Found | null): Promise<Found> {
    let [last, silent] = [received, 0]
    for (;;) {
      const lines = await shown()
      const text = lines
        .map((line) => line.text)
        .join('\n')
        .trimEnd()
      const problem = problemOf(lines)
      if (problem !== undefined) throw new Error(`${problem}\n${text}`)
      const found = find(text)
      if (found !== null) return found
      if (shell.exitCode !== null) throw new Error(`The shell ended before ${what}.\n${text}`)
      silent = received === last ? silent + 1 : 0
      last = received
      if (silent > SILENT_POLLS) throw new Error(`Silence of more than 30 s before ${what}.\n${text}`)
      // Where processes start slowly, the command is given as much more time.
      await Promise.all([sleep(POLL_MS), silent > 0 && run(process.execPath, ['--version'])])
    }
  }

  const prompt = () => until('the prompt', (text) => (text.endsWith(PROMPT) ? text : null))

  async function type(line: string): Promise<void> {
    await prompt()
    begin = screen.buffer.active.baseY + screen.buffer.active.cursorY
    shell.stdin.write(`${line}\n`)
    await until('the echo of the terminal', (text) => (text === PROMPT ? null : true))
  }

  /** Waits for the end of the command. */
  async function ended(): Promise<{ code: number; screen: string }> {
    const [, ...lines] = (await prompt()).slice(0, -PROMPT.length).trimEnd().split('\n')
    await type('echo "exit code $?"')
    const code = await until('the exit code', (text) => /^exit code (\d+)$/m.exec(text)?.[1] ?? null)
    return { code: Number(code), screen: lines.join('\n') }
  }

  const see = (pattern: RegExp) =>
    until(String(pattern), (text) => {
      const found = pattern.exec(text)?.[0]
      if (found === undefined && text.endsWith(PROMPT)) throw new Error(`The command has ended.\n${text}`)
      return found ?? null
    })

  return {
    run: async (line) => {
      await type(line)
      return ended()
    },
    start: async (line, text) => {
      await type(line)
      return see(text)
    },
    see,
    interrupt: () => {
      shell.stdin.write('\x03')
      return ended()
    },
    close: () => close(shell),
  }
}

/** Describes what no person should see. */
function problemOf(
  lines: readonly { readonly text: string; readonly isWrapped: boolean | undefined }[],
): string | undefined {
  const [typed, ...printed] = lines
  if (typed === undefined) return undefined
  // A command line may wrap, and so may what curl receives.
  if (typed.text.startsWith(`${PROMPT} curl`)) return undefined
  const output = printed.slice(printed.findIndex(({ isWrapped }) => !isWrapped))
  const wrapped = output.find(({ isWrapped }) => isWrapped)
  if (wrapped !== undefined) return `A line is wider than ${COLUMNS} columns: … ${wrapped.text}`
  const stack = output.find(({ text }) =>
    /^\s+at .*[:(]\S*:\d+:\d+\)?$|^Node\.js v\d|^\(node:\d+\) .*Warning|^Traceback/.test(text),
  )
  return stack && `A stack trace: ${stack.text}`
}

async function close(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null) return
  shell.kill('SIGTERM')
  await once(shell, 'exit')
}
