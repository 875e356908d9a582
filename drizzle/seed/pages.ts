import type { DemoBrand } from './brand.ts'

/** A page that answers cite: often when its rank is low. `sponsored` pages are on the sponsored domain. */
export interface DemoPage {
  readonly owned: boolean
  readonly rank: number
  readonly url: string
  /** Null for an IP address. */
  readonly domain: string | null
  readonly sponsored: boolean
}

/** Pages per kind, equal for all brands, so that SQL can select a page by its rank. */
export const OWNED_PAGES = 70
export const EARNED_PAGES = 900

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

const OWNED_PATHS = wordsOf(
  '/products/* /guides/* /stories/* /help/* /de/ratgeber/* /ja/guides/* /press/2026/*',
)

const EARNED_PATHS = wordsOf(`
  /reviews/* /best/*-2026 /guides/how-to-choose-* /news/2026/* /*/comparison?sort=rating /blog/*-tested /threads/*
  /de/test/* /questions/*#accepted-answer /watch?v=* /wiki/%E6%AF%94%E8%BC%83/*`)

/** Returns the pages of a brand: general pages first, then numbered pages for the long tail. */
export function pages(brand: DemoBrand): readonly DemoPage[] {
  const topics = wordsOf(brand.topics)
  const owned = urls(OWNED_PAGES, [`www.${brand.domain}`], OWNED_PATHS, topics)
  const earned = urls(EARNED_PAGES, [...wordsOf(brand.citedDomains), '203.0.113.20'], EARNED_PATHS, topics)
  return [
    ...owned.map(({ url }, rank) => ({ owned: true, rank, url, domain: brand.domain, sponsored: false })),
    ...earned.map(({ url, host }, rank) => ({
      owned: false,
      rank,
      url,
      domain: /^[\d.]+$/.test(host) ? null : host,
      sponsored: host === brand.sponsoredDomain,
    })),
  ]
}

/** Combines hosts, paths and topics in different orders, so that the first pages already mix them. */
function urls(count: number, hosts: readonly string[], paths: readonly string[], topics: readonly string[]) {
  return Array.from({ length: count }, (_, index) => {
    const host = hosts[index % hosts.length] ?? ''
    const path = paths[(index + Math.floor(index / hosts.length)) % paths.length] ?? ''
    const topic = topics[(index * 7 + Math.floor(index / paths.length)) % topics.length] ?? ''
    const part = index < count / 4 ? '' : `-${index}`
    return { host, url: `https://${host}${path.replace('*', `${topic}${part}`)}` }
  })
}
