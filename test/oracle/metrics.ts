import type pg from 'pg'

/** The rows of each metric endpoint, as the text that should be sent. */
export type Expected = Readonly<Record<string, readonly string[]>>

type Raw = {
  readonly brand: { name: string; display_name: string; aliases: string[] }
  readonly competitors: readonly { id: string; name: string; aliases: string[]; active: boolean }[]
  readonly answers: readonly Answer[]
}

type Answer = {
  readonly id: string
  readonly date: string
  readonly model_id: string
  readonly provider: string
  readonly market_id: string
  readonly market: string
  readonly mentions: readonly string[]
  readonly citations: readonly { url: string; domain: string | null; owned: boolean; recorded: string }[]
  readonly phrases: readonly { polarity: string; confidence: string }[]
  readonly judged: readonly { competitor_id: string | null; recommended: boolean }[]
}

/**
 * Computes every metric of a brand in TypeScript, from the raw rows and the specification alone: no view, no function
 * of the database, no floating point.
 */
export async function expectedRows(db: pg.Pool, brandId: string): Promise<Expected> {
  const raw = await readRaw(db, brandId)
  return {
    '/visibility': visibility(raw),
    '/competitors': competitors(raw),
    '/citations': citations(raw),
    '/citation-share': citationShare(raw),
    '/sentiment': sentiment(raw),
    '/recommended-rate': recommendedRate(raw),
  }
}

async function readRaw(db: pg.Pool, brandId: string): Promise<Raw> {
  const select = async (sql: string, values: unknown[] = [brandId]) => (await db.query(sql, values)).rows
  const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text as ${column}`
  const [brand] = await select('select * from brands where id = $1')
  const prompts = await select('select * from prompts where brand_id = $1')
  const counted = prompts.filter((prompt) => prompt.retired_at === null && prompt.counts_in_metrics === true)
  const answers = await select(
    `select id, prompt_id, model_id, market_id, error, ${micros('answered_at')} from answers where prompt_id = any($1)`,
    [counted.map(({ id }) => id)],
  )
  const kept = answers.filter(({ error }) => error === null)
  const ids = [kept.map(({ id }) => id)]
  const mentions = byAnswer(await select('select * from answer_mentions where answer_id = any($1)', ids))
  const cited = byAnswer(
    await select(
      `select answer_id, url, domain, owned, ${micros('recorded_at')} from citations where answer_id = any($1)`,
      ids,
    ),
  )
  const phrases = byAnswer(
    await select(
      'select answer_id, polarity, confidence::text from sentiment_phrases where answer_id = any($1)',
      ids,
    ),
  )
  const judged = byAnswer(await select('select * from recommendations where answer_id = any($1)', ids))
  const models = new Map((await select('select * from models', [])).map((model) => [model.id, model]))
  const markets = new Map((await select('select * from markets', [])).map((market) => [market.id, market]))
  return {
    brand,
    competitors: await select('select * from competitors where brand_id = $1'),
    answers: kept.map((answer) => ({
      id: answer.id,
      date: dayOf(answer.answered_at),
      model_id: answer.model_id,
      provider: models.get(answer.model_id).provider,
      market_id: answer.market_id,
      market: markets.get(answer.market_id).name,
      mentions: (mentions.get(answer.id) ?? []).map(({ name }) => fold(name)),
      citations: (cited.get(answer.id) ?? []).map(({ url, domain, owned, recorded_at }) => ({
        url,
        domain,
        owned,
        recorded: dayOf(recorded_at),
      })),
      phrases: phrases.get(answer.id) ?? [],
      judged: judged.get(answer.id) ?? [],
    })),
  }
}

function visibility({ brand, answers }: Raw): string[] {
  const names = new Set([brand.name, brand.display_name, ...brand.aliases].map(fold))
  return groups(answers, ({ date, model_id, market_id }) => [date, model_id, market_id]).flatMap(
    ([{ date, model_id, provider, market_id, market }, all]) => {
      const visible = all.filter(({ mentions }) => mentions.some((name) => names.has(name))).length
      return json([
        ['date', text(date)],
        ['model_id', text(model_id)],
        ['provider', text(provider)],
        ['market_id', text(market_id)],
        ['market', text(market)],
        ['total_prompts', all.length],
        ['visible_count', visible],
        ['visibility_rate', rate(visible, all.length)],
      ])
    },
  )
}

function competitors({ competitors: known, answers }: Raw): string[] {
  const tracked = known.filter(({ active }) => active)
  const sorted = tracked.toSorted((a, b) => byCodePoint(a.name, b.name))
  return groups(answers, ({ date }) => [date]).flatMap(([{ date }, all]) =>
    sorted.flatMap(({ name, aliases }) => {
      const names = new Set([name, ...aliases].map(fold))
      const visible = all.filter(({ mentions }) => mentions.some((each) => names.has(each))).length
      return json([
        ['date', text(date)],
        ['competitor_name', text(name)],
        ['total_responses', all.length],
        ['competitor_visible_responses', visible],
        ['competitor_visibility_rate', rate(visible, all.length)],
      ])
    }),
  )
}

const everyCitation = ({ answers }: Raw) =>
  answers.flatMap(({ id, date, citations: made }) => made.map((citation) => ({ id, date, ...citation })))

const distinctAnswers = (cited: readonly { id: string }[]): number => new Set(cited.map(({ id }) => id)).size

const greatest = (domains: readonly (string | null)[]): string | null =>
  domains
    .filter((domain) => domain !== null)
    .toSorted(byCodePoint)
    .at(-1) ?? null

function citations(raw: Raw): string[] {
  return groups(everyCitation(raw), ({ recorded, url }) => [recorded, url]).flatMap(
    ([{ recorded, url }, all]) =>
      json([
        ['date', text(recorded)],
        ['url', text(url)],
        ['domain', text(greatest(all.map(({ domain }) => domain)))],
        ['is_owned', String(all.some(({ owned }) => owned))],
        ['citations', distinctAnswers(all)],
      ]),
  )
}

function citationShare(raw: Raw): string[] {
  return groups(everyCitation(raw), ({ date, url }) => [date, url]).flatMap(([{ date, url }, all]) =>
    json([
      ['date', text(date)],
      ['url', text(url)],
      ['domain', text(greatest(all.map(({ domain }) => domain)))],
      ['is_owned', String(all.some(({ owned }) => owned))],
      ['citations', distinctAnswers(all)],
      ['owned_citations', distinctAnswers(all.filter(({ owned }) => owned))],
    ]),
  )
}

function sentiment({ answers }: Raw): string[] {
  const all = answers.flatMap(({ date, phrases }) => phrases.map((phrase) => ({ date, ...phrase })))
  return groups(all, ({ date }) => [date]).flatMap(([{ date }, phrases]) => {
    const of = (polarity: string) => phrases.filter((phrase) => phrase.polarity === polarity)
    const weigh = (polarity: string) =>
      of(polarity).reduce((sum, { confidence }) => sum + tenThousandths(confidence), 0n)
    const positive = weigh('positive')
    const negative = weigh('negative')
    return json([
      ['date', text(date)],
      ['positive_mentions', of('positive').length],
      ['neutral_mentions', of('neutral').length],
      ['negative_mentions', of('negative').length],
      ['positive_weight', decimal(positive)],
      ['negative_weight', decimal(negative)],
      ['sentiment_score', positive + negative === 0n ? 'null' : rate(positive, positive + negative)],
    ])
  })
}

function recommendedRate({ brand, competitors: known, answers }: Raw): string[] {
  const tracked = known.filter(({ active }) => active)
  const names = new Map<string | null, string>(tracked.map(({ id, name }) => [id, name]))
  names.set(null, brand.name)
  const all = answers
    .filter(({ date }) => date >= '2026-09-22')
    .flatMap(({ date, judged }) =>
      judged.flatMap(({ competitor_id, recommended }) => {
        const name = names.get(competitor_id)
        return name === undefined ? [] : { date, name, isBrand: competitor_id === null, recommended }
      }),
    )
  return groups(all, ({ date, isBrand, name }) => [date, isBrand ? '0' : '1', name]).flatMap(
    ([{ date, isBrand, name }, judged]) => {
      const recommended = judged.filter((each) => each.recommended).length
      return json([
        ['date', text(date)],
        ['entity_name', text(name)],
        ['is_brand', String(isBrand)],
        ['recommended_rate', rate(recommended, judged.length)],
        ['judged_answers', judged.length],
      ])
    },
  )
}

/** Items with the same key, each group with its first item, in code point order of the keys' parts. */
function groups<Item>(items: readonly Item[], keyOf: (item: Item) => readonly string[]): [Item, Item[]][] {
  const found = new Map<string, { key: readonly string[]; group: [Item, Item[]] }>()
  for (const item of items) {
    const key = keyOf(item)
    const known = found.get(JSON.stringify(key))
    if (known) known.group[1].push(item)
    else found.set(JSON.stringify(key), { key, group: [item, [item]] })
  }
  return [...found.values()]
    .toSorted((a, b) => {
      const differing = a.key.findIndex((part, index) => part !== b.key[index])
      return byCodePoint(a.key[differing] ?? '', b.key[differing] ?? '')
    })
    .map(({ group }) => group)
}

function byAnswer<Child extends { answer_id: string }>(children: readonly Child[]): Map<string, Child[]> {
  return Map.groupBy(children, ({ answer_id }) => answer_id)
}

/** UTF-8 keeps the order of code points. */
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const dayOf = (micros: string): string => {
  const millis = BigInt(micros) / 1000n
  return new Date(Number(millis)).toISOString().slice(0, 10)
}

/** Without surrounding white space and without case, composed; a dotless ı is a letter of its own in Unicode's folding. */
const fold = (name: string): string =>
  [...name.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '').normalize()]
    .map((letter) => (letter === 'ı' ? letter : letter.toLowerCase().toUpperCase().toLowerCase()))
    .join('')
    .normalize()

const tenThousandths = (confidence: string): bigint => {
  const [whole = '0', part = ''] = confidence.split('.')
  return BigInt(whole + part.padEnd(4, '0'))
}

const decimal = (value: bigint): string => `${value / 10_000n}.${String(value % 10_000n).padStart(4, '0')}`

/** `part` of `whole` as a percentage, rounded half away from zero. */
function rate(part: number | bigint, whole: number | bigint): string {
  const [numerator, denominator] = [BigInt(part) * 1_000_000n, BigInt(whole)]
  return decimal((2n * numerator + denominator) / (2n * denominator))
}

const text = (value: string | null): string => JSON.stringify(value)

const json = (fields: readonly (readonly [string, string | number])[]): string =>
  `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`
