import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isAbsolute } from 'node:path'

/** What ends a command. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a program in this terminal, and returns its exit code. It decides how it ends after a signal. */
export async function runProgram([file, ...args]) {
  const isShim = process.platform === 'win32' && !isAbsolute(file)
  const child = spawn(file, args, { stdio: 'inherit', shell: isShim })
  const pass = (signal) => {
    // A terminal has sent its Ctrl-C to both processes.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, pass)
  })
}
