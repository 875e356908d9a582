import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { hasAll } from '../fixtures/programs.ts'

// OpenAPI Generator is a program of others that writes clients from the document.

const run = promisify(execFile)
const DOCUMENT = fileURLToPath(new URL('../../functions/openapi.json', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'generated-clients-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Generates the client of a language. Returns its folder. */
async function generate(language: string): Promise<string> {
  const output = join(folder, language)
  const repository = ['--git-user-id', 'example', '--git-repo-id', 'client']
  await run('openapi-generator-cli', [
    'generate',
    '-g',
    language,
    '-i',
    DOCUMENT,
    '-o',
    output,
    ...repository,
  ])
  return output
}

type Models = {
  readonly language: string
  readonly files: readonly string[]
  readonly fields: readonly string[]
}

/** Files of models, and how they declare a weight, a rate that can be null, a count, sums, and the size of a page. */
const MODELS: readonly Models[] = [
  {
    language: 'go',
    files: ['model_sentiment_row.go', 'model_change_row.go', 'model_pagination.go'],
    fields: [
      'PositiveWeight float64 ',
      'SentimentScore NullableFloat64 ',
      'PositiveMentions int64 ',
      'Totals map[string]float64 ',
      'PageSize int64 ',
    ],
  },
  {
    language: 'rust',
    files: ['sentiment_row', 'change_row', 'pagination'].map((name) => `src/models/${name}.rs`),
    fields: [
      'positive_weight: f64,',
      'sentiment_score: Option<f64>,',
      'positive_mentions: i64,',
      'totals: std::collections::HashMap<String, f64>,',
      'page_size: i64,',
    ],
  },
  {
    language: 'java',
    files: ['SentimentRow', 'ChangeRow', 'Pagination'].map(
      (name) => `src/main/java/org/openapitools/client/model/${name}.java`,
    ),
    fields: [
      'Double positiveWeight;',
      'Double sentimentScore;',
      'Long positiveMentions;',
      'Map<String, Double> totals ',
      'Long pageSize;',
    ],
  },
  {
    language: 'csharp',
    files: ['SentimentRow', 'ChangeRow', 'Pagination'].map((name) => `src/Org.OpenAPITools/Model/${name}.cs`),
    fields: [
      'double PositiveWeight ',
      'double? SentimentScore ',
      'long PositiveMentions ',
      'Dictionary<string, double> Totals ',
      'long PageSize ',
    ],
  },
]

test.runIf(hasAll('openapi-generator-cli')).each(MODELS)(
  '$language has numbers of 64 bits',
  async ({ language, files, fields }) => {
    const client = await generate(language)
    const texts = await Promise.all(files.map((file) => readFile(join(client, file), 'utf8')))
    for (const field of fields) expect(texts.join()).toContain(field)
  },
)

const ROUND_TRIP = `package main
import ("encoding/json"; "os"; client "github.com/example/client")
func main() {
  var row client.SentimentRow
  if err := json.NewDecoder(os.Stdin).Decode(&row); err != nil { panic(err) }
  json.NewEncoder(os.Stdout).Encode(row)
}`

test.runIf(hasAll('openapi-generator-cli', 'go'))('a program in Go sends on what it received', async () => {
  const row = {
    date: '2026-10-01',
    positive_mentions: 16_777_217,
    neutral_mentions: 0,
    negative_mentions: 2_147_483_647,
    positive_weight: 12_188.2371,
    negative_weight: 0.0001,
    sentiment_score: 99.9999,
  }
  const cwd = await generate('go')
  await mkdir(join(cwd, 'program'))
  await writeFile(join(cwd, 'program/main.go'), ROUND_TRIP)
  const program = run('go', ['run', './program'], { cwd })
  program.child.stdin?.end(JSON.stringify(row))
  expect(JSON.parse((await program).stdout)).toEqual(row)
})
