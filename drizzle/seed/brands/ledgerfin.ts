import type { DemoBrand } from '../brand.ts'

/** Software for small companies: a new brand that starts low and grows fast. */
export const ledgerfin: DemoBrand = {
  slug: 'ledgerfin',
  organization: 'pro',
  name: 'Ledgerfin',
  displayName: 'Ledgerfin Accounting',
  domain: 'ledgerfin.example',
  industry: 'Business software',
  aliases: ['Ledger Fin', 'Ledgerfin Books'],
  active: true,
  sampling: 0.16,
  mentionRate: { level: 0.05, rise: 0.3 },
  sentiment: { level: 0.55, rise: 0.1, hasGaps: false },
  competitors: [
    { name: 'Talliwise', aliases: ['Talli Wise'], level: 0.6, rise: -0.1 },
    { name: 'Countable Cloud', aliases: ['Countable'], level: 0.42, rise: 0 },
    { name: 'Buchwerk', aliases: ['Buchwerk GmbH'], level: 0.2, rise: 0.05 },
    { name: 'Inkvoice', aliases: ['Ink Voice'], level: 0.14, rise: 0.02 },
  ],
  untracked: ['Sheetly'],
  prompts: [
    { text: 'Best accounting software for a firm of ten people' },
    { text: 'Which invoicing tool files VAT returns by itself?' },
    { text: 'Accounting software with a good API' },
    { text: 'How do I move my books out of a spreadsheet?' },
    { text: 'Cheapest bookkeeping app for freelancers' },
    { text: 'Ledgerfin pricing and limits', branded: true },
  ],
  citedDomains: `
    smallfirmweekly.example softwarescout.example forum.bookkeepers.example talliwise.example taxnotes.example
    dev.apishelf.example`,
  topics: `
    small-business-accounting vat-returns accounting-api moving-from-spreadsheets freelancer-bookkeeping
    bank-feeds multi-currency expense-receipts audit-trail year-end-closing`,
}
