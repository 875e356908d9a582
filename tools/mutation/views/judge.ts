import { runViews, type Tally } from './run.ts'

const WIDTHS = [26, 9, 9, 9, 9, 9]

/** Judges every mutant of the views, prints a line for each view, and says whether all of them die. */
export async function judgeViews(): Promise<boolean> {
  const tallies: Tally[] = []
  print('view', 'mutants', 'killed', 'alive', 'same', 'untried')
  await runViews((tally) => {
    tallies.push(tally)
    tell(tally)
  })
  const sum = (count: (tally: Tally) => number) => tallies.reduce((total, tally) => total + count(tally), 0)
  const survivors = tallies.flatMap(({ view, survivors }) => survivors.map((each) => `${view}: ${each}`))
  tell({
    view: 'all views',
    mutants: sum(({ mutants }) => mutants),
    killed: sum(({ killed }) => killed),
    same: sum(({ same }) => same),
    untried: sum(({ untried }) => untried),
    survivors,
  })
  for (const survivor of survivors) console.log(`alive  ${survivor}`)
  return survivors.length === 0
}

const tell = ({ view, mutants, killed, survivors, same, untried }: Tally): void =>
  print(view, mutants, killed, survivors.length, same, untried)

function print(...cells: readonly (string | number)[]): void {
  const [first = '', ...rest] = cells.map(String)
  console.log(
    first.padEnd(WIDTHS[0] ?? 0) + rest.map((cell, index) => cell.padStart(WIDTHS[index + 1] ?? 0)).join(''),
  )
}
