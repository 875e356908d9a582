import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { insert, prompt, refresh, type Values } from '../../test/fixtures/rows.ts'

const words = (line: string): string[] => line.split(' ')
const within = (characters: string): string[] => Array.from(characters, (each) => `a${each}b`)

/** Texts that some reader trims, splits, unescapes, evaluates, or takes for null, a number or the end of a line. */
const HOSTILE_TEXTS: readonly string[] = [
  ...['', ' ', '  \t ', ' blank before', 'blank after ', '\ttab before', 'tab after\t', '\u00a0', '\u3000'],
  ...words(`" "" ' '' "double" 'single' "opens closes" 'opens l'été , a,b a","b a;b a|b`),
  ...['a "b" c', '"; drop table answers; --', 'Nov 20', '1 day'],
  ...words('\\ \\\\ \\n \\N \\" \\. ends\\ C:\\new\\table \\u0041 \\x41 %41'),
  ...words('NULL null None NA N/A #N/A <NA> nan NaN inf -Infinity undefined - true True false f yes 0 1'),
  ...words(
    '-0 0012 1.0 1e5 0x10 1_000 1,000 9007199254740993 2026-11-20 2026-11-20T12:30:00Z 12:30 20/11/2026',
  ),
  ...words('\r \n \r\n \nbefore after\n after\r a\n\n\nb \ufeff \ufeffa \u200b \u0001 \u001a \u001f'),
  ...within('\r\n\t\u2028\u2029\u0085\u001c\u001d\u001e\u001f\v\f\u0001\u0007\b\u001a\u001b\u007f\u009f'),
  ...within('\ufffd\ufffe\uffff\ufeff\u200b\u00ad\u200f\u202e\u{1f600}\u{1d11e}'),
  ...words('a\r\nb \u00e9 e\u0301 \u212b \u00c5 \u0130 \u0131 straße STRASSE 日本 א'),
  ...words('/Path /path /path/ https://a.example https://a.example/ https://A.example/ a?b=c&d=%2F#e'),
  ...words(`=1+1 +1 -1 @x \t=1+1 \r=1+1 \n=1+1 '=1+1 =HYPERLINK("https://a.example")`),
  ...words('#comment ;comment --comment //comment /*comment*/ [section] {"a":1} {} [] [1 <b>&amp;</b>'),
  ...words('{{jinja}} {%if%} {#none#} $' + '{x} $1 $$ %s %(x)s {0} :x ?'),
]

/** psql up to 17 takes a line with `\.` for the end of a CSV file. */
const URLS = [`https://long.example/${'"a",'.repeat(2048)}`.slice(0, 8192), 'a\n\\.\nb']

/** Columns of a brand. Its names become rows of `/recommended-rate`. */
export const HOSTILE_BRAND = {
  name: `\u00e9 "a", 'b'\\n\n\\N\u2028\u001f {{ x }} \u{1f600} `,
  display_name: '=1+1',
  url: '',
  site_url: '\\N',
  industry: 'null',
} as const

/** Adds answers of a day to a brand, which bring each of the texts into each text column of the metrics. */
export async function addHostileTexts(db: pg.Pool, brandId: string, day: string): Promise<void> {
  const at = `${day}T12:00:00Z`
  const promptId = await prompt(db, brandId)
  const said = HOSTILE_TEXTS.map((text, index) => {
    // The text before it, so that no row has the same text in all columns.
    const other = HOSTILE_TEXTS.at(index - 1) ?? ''
    return { text, other, id: randomUUID(), market: randomUUID() }
  })
  for (const { text, other } of said)
    await db.query('insert into models (id, provider) values ($1, $2) on conflict do nothing', [text, other])
  const add = (table: string, row: (answer: (typeof said)[number]) => Values) =>
    insert(db, table, said.map(row))
  await add('competitors', ({ text }) => ({ brand_id: brandId, name: text }))
  await add('markets', ({ market, other }) => ({ id: market, name: other }))
  await add('answers', ({ id, text, market }) => ({
    id,
    prompt_id: promptId,
    model_id: text,
    market_id: market,
    answered_at: at,
  }))
  await add('answer_mentions', ({ id, text }) => ({ answer_id: id, name: text }))
  await add('sentiment_phrases', ({ id }) => ({ answer_id: id, polarity: 'positive', confidence: '0.1001' }))
  const cited = { owned: true, recorded_at: at }
  await add('citations', ({ id, text, other }) => ({ ...cited, answer_id: id, url: text, domain: other }))
  for (const url of URLS) await add('citations', ({ id }) => ({ ...cited, answer_id: id, url, domain: null }))
  await db.query(
    `insert into recommendations (answer_id, competitor_id, recommended)
     select answers.id, competitors.id, true from answers, competitors
     where prompt_id = $1 and competitors.brand_id = $2 and name = model_id`,
    [promptId, brandId],
  )
  await refresh(db)
}
