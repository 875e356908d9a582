import { brandNames, competitorNames } from '../../../drizzle/views/names.ts'
import type { MutatedView } from './mutant.ts'

const BRAND = 'an answer mentions the brand >'
const RIVAL = 'counts a competitor as mentioned'

export const BRAND_NAMES: MutatedView = {
  view: brandNames,
  file: 'functions/visibility',
  mutants: [
    {
      sql: 'brands.name, brands.display_name',
      becomes: 'brands.display_name',
      fails: `${BRAND} when it names it`,
    },
    {
      sql: 'brands.name, brands.display_name',
      becomes: 'brands.name',
      fails: `${BRAND} by its display name`,
    },
    { sql: '|| brands.aliases', becomes: '', fails: `${BRAND} by an alias` },
    { sql: 'metrics.fold(known.name)', becomes: 'known.name', fails: `${BRAND} when it names it` },
    {
      sql: 'metrics.fold(known.name)',
      becomes: 'lower(known.name)',
      fails: `${BRAND} when the name of the brand has spaces around`,
    },
    {
      sql: 'array_agg(metrics.fold(known.name))',
      becomes: 'array[min(metrics.fold(known.name))]',
      fails: `${BRAND} by an alias`,
    },
    {
      sql: 'array_agg(metrics.fold(known.name))',
      becomes: 'array[max(metrics.fold(known.name))]',
      fails: `${BRAND} when it names it`,
    },
  ],
}

export const COMPETITOR_NAMES: MutatedView = {
  view: competitorNames,
  file: 'functions/competitors',
  mutants: [
    {
      sql: 'array[competitors.name] || competitors.aliases',
      becomes: 'competitors.aliases',
      fails: `${RIVAL} in another case`,
    },
    { sql: '|| competitors.aliases', becomes: '', fails: `${RIVAL} by an alias` },
    { sql: 'metrics.fold(known.name)', becomes: 'known.name', fails: `${RIVAL} in another case` },
    {
      sql: 'metrics.fold(known.name)',
      becomes: 'lower(known.name)',
      fails: `${RIVAL} by an alias that has spaces around itself`,
    },
    {
      sql: 'array_agg(metrics.fold(known.name))',
      becomes: 'array[max(metrics.fold(known.name))]',
      fails: `${RIVAL} in another case`,
    },
    {
      sql: 'where competitors.active',
      becomes: '',
      fails: 'has no row for an inactive competitor, on no date, until it is active again',
    },
    {
      sql: 'where competitors.active',
      becomes: 'where not competitors.active',
      fails: 'counts the answers that name the competitor, among all answers of the date',
    },
  ],
}
