import { parseArgs } from 'node:util'
import { judgeLib } from './lib/judge.ts'
import { judgeViews } from './views/judge.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [what = 'all', ...files] = positionals

if (!['all', 'views', 'lib'].includes(what)) {
  console.error('npm run mutate [-- views | -- lib [FILE …]]')
  process.exit(1)
}
let alive = 0
if (what !== 'lib') alive += await judgeViews()
if (what !== 'views') alive += await judgeLib(files)
process.exitCode = alive === 0 ? 0 : 1
