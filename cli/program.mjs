import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** What ends a command. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a program in this terminal, and returns its exit code. */
export function runProgram([file, ...args]) {
  const child = spawn(file, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  return exitCodeOf(child)
}

/** Passes signals on to a process, and returns its exit code when it has ended. */
export async function exitCodeOf(child) {
  const pass = (signal) => {
    // A terminal has sent its Ctrl-C to both processes.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass)
  }
}
