import type { DemoBrand } from './brand.ts'

/** A page that answers cite, in the order of how often; `sponsored` is on the domain that the brand owns at times. */
export interface DemoPage {
  readonly owned: boolean
  readonly rank: number
  readonly url: string
  /** Null where none could be told from the URL. */
  readonly domain: string | null
  readonly sponsored: boolean
}

/** Every brand has as many pages of each kind, so that SQL picks one by rank. */
export const OWNED_PAGES = 70
export const EARNED_PAGES = 900

const OWNED_PATHS = [
  '/products/*',
  '/guides/*',
  '/stories/*',
  '/help/*',
  '/de/ratgeber/*',
  '/ja/guides/*',
  '/press/2026/*',
]

const EARNED_PATHS = [
  '/reviews/*',
  '/best/*-2026',
  '/guides/how-to-choose-*',
  '/news/2026/*',
  '/*/comparison?sort=rating',
  '/blog/*-tested',
  '/threads/*',
  '/de/test/*',
  '/questions/*#accepted-answer',
  '/watch?v=*',
  '/wiki/%E6%AF%94%E8%BC%83/*',
]

/** The pool of cited pages of a brand: first the general pages, then numbered ones for the long tail. */
export function pages(brand: DemoBrand): readonly DemoPage[] {
  const owned = urls(OWNED_PAGES, [`www.${brand.domain}`], OWNED_PATHS, brand.topics)
  const earned = urls(EARNED_PAGES, [...brand.sources, '203.0.113.20'], EARNED_PATHS, brand.topics)
  return [
    ...owned.map(({ url }, rank) => ({ owned: true, rank, url, domain: brand.domain, sponsored: false })),
    ...earned.map(({ url, host }, rank) => ({
      owned: false,
      rank,
      url,
      domain: /^[\d.]+$/.test(host) ? null : host,
      sponsored: host === brand.magazine,
    })),
  ]
}

/** Steps through hosts, paths and topics at different paces, so that the pool mixes them from its first page on. */
function urls(count: number, hosts: readonly string[], paths: readonly string[], topics: readonly string[]) {
  return Array.from({ length: count }, (_, index) => {
    const host = hosts[index % hosts.length] ?? ''
    const path = paths[(index + Math.floor(index / hosts.length)) % paths.length] ?? ''
    const topic = topics[(index * 7 + Math.floor(index / paths.length)) % topics.length] ?? ''
    const part = index < count / 4 ? '' : `-${index}`
    return { host, url: `https://${host}${path.replace('*', `${topic}${part}`)}` }
  })
}
