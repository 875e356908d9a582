import type { Client } from 'pg'
import { insertRows } from '../../drizzle/seed/insert-rows.ts'
import { AGES, daysBefore, fixedId, PLACES, twins } from './organization.ts'

type Rows = readonly Readonly<Record<string, unknown>>[]

/** More rows of one day than a page holds. */
const URLS_OF_A_PAGE = 1040
const DAY_OF_PAGES = 20
const DAY_OF_TWINS = 22

/** Texts that look like another type, or like nothing. */
const LOOKALIKES = [
  '',
  // dlt marks a decimal by this character.
  '\uf02612',
  ...'007 1e3 2026-1-2 null NULL \\N true False None N/A NaN Infinity - {} "a"'.split(' '),
]

// Further texts that loaders get wrong: quotes, separators, line ends and other scripts.
const BRANDS = [
  {
    name: 'Acme',
    display_name: ' Acme "Corporation", Ltd.\t',
    industry: null,
    rivals: LOOKALIKES,
  },
  {
    name: 'Müller & Søn 東京',
    display_name: "O'Müller\\Søn/".normalize('NFD'),
    industry: '',
    rivals: ['Globex\nInc.', 'Żółć 😀', ...twins('Café', 1_900)],
  },
]
const DOMAINS = [null, ...LOOKALIKES, ...twins('bücher', 4_100)]
const TWIN_URLS = twins('site.example/é', 8_100)
const POLARITIES = ['positive', 'neutral', 'negative']

/** Adds two brands with answers on 45 days, about 7,000 rows of metrics. */
export async function addBrands(client: Client, today: string): Promise<void> {
  for (const [index, brand] of BRANDS.entries()) await addBrand(client, brand, index, today)
}

async function addBrand(
  client: Client,
  { rivals, ...brand }: (typeof BRANDS)[number],
  index: number,
  today: string,
): Promise<void> {
  const id = fixedId('brand', index)
  const prompt = fixedId('prompt', index)
  const site = { url: `brand-${index}.example`, site_url: `https://brand-${index}.example/?a=1&b="2"` }
  const times = { aliases: [], active: true, created_at: '2025-12-31T23:59:59.123Z' }
  await insertRows(client, 'brands', [
    { id, organization_id: fixedId('organization'), ...brand, ...site, ...times },
  ])
  await insertRows(client, 'prompts', [
    { id: prompt, brand_id: id, text: 'Which is best?', branded: false, counts_in_metrics: true },
  ])
  const competitors = rivals.map((name, rival) => ({
    id: fixedId('rival', index, rival),
    brand_id: id,
    name,
  }))
  const listed = competitors.map((competitor) => ({ ...competitor, ...times }))
  await insertRows(client, 'competitors', listed)

  const tables = AGES.flatMap((age) =>
    PLACES.slice(0, index === 0 && age === DAY_OF_TWINS ? undefined : 2).map(({ model, market }, place) => {
      const answer = fixedId('answer', index, age, place)
      const answered_at = `${daysBefore(today, age)}T12:00:00Z`
      const named = [brand.name, ...rivals].filter((_, name) => (age + place + name) % 3 !== 0)
      const cited = index === 0 && place === 0 ? urls(age) : urls(age).slice(0, 2)
      return {
        answers: [
          {
            id: answer,
            prompt_id: prompt,
            model_id: model,
            market_id: fixedId('market', market),
            answered_at,
          },
        ],
        answer_mentions: named.map((name) => ({ answer_id: answer, name })),
        citations: cited.map((url, number) => ({
          id: fixedId('citation', answer, number),
          answer_id: answer,
          url,
          domain: DOMAINS[(age + number) % DOMAINS.length],
          owned: (age + number) % 2 === 0,
          // Some are recorded a day after the answer.
          recorded_at: `${daysBefore(today, age % 4 === 0 ? age - 1 : age)}T00:00:00Z`,
        })),
        sentiment_phrases: POLARITIES.slice(0, place === 0 && age % 5 !== 0 ? 1 + (age % 2) : 0).map(
          (_, number) => ({
            id: fixedId('phrase', answer, number),
            answer_id: answer,
            polarity: POLARITIES[(age + number) % 3],
            confidence: `0.${4321 + age}`,
          }),
        ),
        recommendations: [null, ...competitors.map(({ id }) => id)].map((competitor_id, number) => ({
          answer_id: answer,
          competitor_id,
          recommended: (age + place + number) % 3 === 0,
        })),
      }
    }),
  )
  const all = (table: keyof (typeof tables)[number]): Rows => tables.flatMap((rows): Rows => rows[table])
  for (const table of [
    'answers',
    'answer_mentions',
    'citations',
    'sentiment_phrases',
    'recommendations',
  ] as const)
    await insertRows(client, table, all(table))
}

/** Returns the URLs that the answers of a day cite at most. */
function urls(age: number): string[] {
  if (age === DAY_OF_TWINS) return TWIN_URLS
  const count = age === DAY_OF_PAGES ? URLS_OF_A_PAGE : 2
  return Array.from(
    { length: count },
    (_, number) => `https://site.example/ü,"${age % 7}"?n=${number}&q='東京'`,
  )
}
