import { judgeLib } from './lib/judge.ts'
import { judgeViews } from './views/judge.ts'

const [what, ...files] = process.argv.slice(2)

if (what === 'views') process.exitCode = (await judgeViews()) ? 0 : 1
else if (what === 'lib') process.exitCode = (await judgeLib(files)) ? 0 : 1
else if (what === undefined) {
  const views = await judgeViews()
  const lib = await judgeLib([])
  process.exitCode = views && lib ? 0 : 1
} else {
  console.error(
    'Say what to mutate: nothing for all, "views", or "lib" with the files of lib/ that it shall be',
  )
  process.exitCode = 1
}
