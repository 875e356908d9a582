// Imported before a command: prints the peak memory of the process in KiB as the last line.
import { readFileSync, writeSync } from 'node:fs'

process.on('exit', () => {
  const [, peak] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  writeSync(process.stdout.fd, `${peak}\n`)
})
