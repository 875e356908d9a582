import { resolve } from 'node:path'
import { certify } from '../connectors/certify/certify.ts'
import { parseCopy } from '../connectors/certify/copies.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'
import { bundle } from './workers/bundle.ts'

const options = createCommand('certify', {
  description:
    'Runs a loader after each step of the life of a service, and prints which promises its copy keeps.',
})
  .requiredOption('--command <command>', 'command of the shell that brings the copy up to date')
  .requiredOption('--copy <where>', 'duckdb:FILE, postgres://… or jsonl:FOLDER with <table>.jsonl')
  .option('--schema <name>', 'schema of the tables (default: main in DuckDB, public in PostgreSQL)')
  .option('--folder <path>', 'working folder of the command, without an earlier copy (default: a new one)')
  .parse()
  .opts<{ command: string; copy: string; schema?: string; folder?: string }>()

// So that the command ends as well, which is in a process group of its own.
process.once('SIGINT', () => process.exit(130))

await run(async () => {
  parseCopy(options.copy)
  await bundle()
  // npm runs scripts in the folder of package.json.
  const folder = options.folder && resolve(process.env.INIT_CWD ?? '', options.folder)
  const verdicts = await certify({ ...options, folder, report: (line) => console.log(line) })
  console.log()
  for (const { promise, kept, detail } of verdicts) {
    console.log(`${kept === null ? '–' : kept ? '✓' : '✗'} ${promise}`)
    if (!kept) console.log(detail.replaceAll(/^/gm, '    '))
  }
  if (verdicts.some(({ kept }) => !kept)) process.exitCode = 1
})
