import * as shareStatements from '../lib/share/statements.ts'
import * as statements from '../lib/statements.ts'
import { findWorkers } from './find-workers.ts'

/** Modules as JavaScript, by their paths from the repository. */
export type Rendered = Readonly<Record<string, string>>

/** Renders the modules with statements: a Worker contains neither the SQL's builders nor the schemas of rows. */
export async function render(): Promise<Rendered> {
  const endpoints = (await findWorkers()).map(({ name, servedBy, data }): [string, string] => [
    `functions/${name}.ts`,
    `import { serve } from '../lib/${servedBy}'\n${withLines(data)}`,
  ])
  return {
    'lib/statements.ts': constants(statements),
    'lib/share/statements.ts': constants(shareStatements),
    ...Object.fromEntries(endpoints),
  }
}

const constants = (exports: object): string =>
  Object.entries(exports)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
    .join('\n')

/** Serves data whose statements share most of their lines: each line is there once. */
function withLines(data: object): string {
  const lines: string[] = []
  const json = JSON.stringify(data).replace(/"sql":("(?:[^"\\]|\\.)*")/g, (_, sql) => {
    const numbers = JSON.parse(sql)
      .split('\n')
      .map((line: string) => (lines.includes(line) ? lines.indexOf(line) : lines.push(line) - 1))
    return `"sql":join(${numbers})`
  })
  return `const lines = ${JSON.stringify(lines)}
const join = (...numbers) => numbers.map((number) => lines[number]).join('\\n')
export default serve(${json})`
}
