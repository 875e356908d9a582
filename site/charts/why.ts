import { type Contribution, type Decomposition, decompose, pointsOf, startOf } from './contributions.ts'
import { createElement, scrollable, table } from './elements.ts'
import { type Compared, linesOf, percentOf, type Split, type View } from './lines.ts'
import { sameness } from './noise.ts'
import { type Sums, sum } from './sums.ts'

/** What the change of a rate is explained by, where its rows have it. */
const FIELDS: Readonly<Record<string, string>> = { model_id: 'Model', market: 'Market', domain: 'Domain' }

const MOST_DOMAINS = 15

/** Joins the domains with the fewest citations, of which there can be thousands. */
export function joinRareDomains({ days, cells }: Sums): Sums {
  const sized = cells.map((cell) => ({ cell, size: sum(cell.whole) }))
  const largest = sized.sort((left, right) => right.size - left.size).map(({ cell }) => cell)
  const rare = cells[0]?.values.domain === undefined ? [] : largest.slice(MOST_DOMAINS)
  if (rare.length < 2) return { days, cells }
  const side = (of: 'part' | 'whole') => days.map((_, day) => sum(rare.map((cell) => cell[of][day] ?? 0)))
  const joined = { values: { domain: `${rare.length} others` }, part: side('part'), whole: side('whole') }
  return { days, cells: [...largest.slice(0, MOST_DOMAINS), joined] }
}

export type Change = Compared &
  Pick<View, 'where'> & {
    readonly title: string
    /** Names it among those of the page. */
    readonly label: string
    readonly sums: Sums
    readonly splits: readonly Split[]
  }

/**
 * Explains the change of a rate between two periods: a sentence, and what each model, market or domain adds. Of several rates, such
 * as those of competitors, it lists the change of each.
 */
export function whyItMoved({ title, label, splits, sums, ...periods }: Change): Node {
  const per = splits.length === 1 ? splits[0]?.field : undefined
  if (per !== undefined) return changesOf(per, { label, sums, ...periods })
  const fields = Object.keys(FIELDS).filter(
    (field) => periods.where?.[field] === undefined && sums.cells.some(({ values }) => field in values),
  )
  const found = decompose(sums, periods, fields)
  if (found === null) return createElement('p', {}, ['One of the periods has no rows to compare.'])
  const { before, now, where } = periods
  const split = { label: title, field: undefined, total: false }
  const lines = linesOf(sums, { split, from: before.from, to: now.to, where, unit: 'week' })
  const tables = Object.entries(found.byField).map(([field, contributions]) =>
    table(
      [FIELDS[field] ?? field, 'Before', 'Now', 'By its rate', 'By its share', 'Points'],
      contributions.map((each) => [
        each.name,
        percentOf(each.before),
        percentOf(each.now),
        ...[each.rate, each.mix, pointsOf(each)].map(signed),
      ]),
      `What each ${FIELDS[field]?.toLowerCase()} adds: ${now.from} to ${now.to}, after ${before.from} to ${before.to}`,
    ),
  )
  return createElement('div', { class: 'inset' }, [
    createElement('p', {}, [explain(title, found, startOf(lines, found.change)?.first)]),
    createElement('div', scrollable(`Why it moved: ${label}`), tables),
  ])
}

/** Lists the rates that have answers in both periods, those that changed most first. */
function changesOf(per: string, { label, sums, where, ...periods }: Omit<Change, 'title' | 'splits'>): Node {
  const changes = sums.cells.flatMap((cell) => {
    const found = decompose({ ...sums, cells: [cell] }, { ...periods, where }, [])
    return found === null ? [] : { name: cell.values[per] ?? '', ...found }
  })
  changes.sort((left, right) => Math.abs(right.change) - Math.abs(left.change))
  const rows = changes.map(({ name, before, now, change }) => [
    ...[name, percentOf(before), percentOf(now)],
    sameness(before, now) ?? signed(change),
  ])
  return createElement('div', { ...scrollable(`Why it moved: ${label}`), class: 'scrolled inset' }, [
    table(['Name', 'Before', 'Now', 'Points'], rows),
  ])
}

/** Says in sentences how a rate changed, since when, and what contributed to it or moved the other way. */
export function explain(title: string, found: Decomposition, start: string | undefined): string {
  const { before, now, change, byField } = found
  const [figure, earlier] = [now, before].map(
    (sides) => `${percentOf(sides)} of ${sides.whole.toLocaleString('en')}`,
  )
  const figures = `${figure}, after ${earlier}`
  const same = sameness(before, now)
  if (same !== undefined) return `${title}: ${same}. ${figures}.`
  if (change === 0) return `${title} changed by less than 0.1 points: ${figures}.`
  // A single part is the whole.
  const all = Object.values(byField).filter((contributions) => contributions.length > 1)
  const most = all.flatMap((parts) => parts.find((each) => pointsOf(each) * change > 0) ?? [])
  const against = all.flat().filter((each) => pointsOf(each) * change < 0)
  against.sort((left, right) => Math.abs(pointsOf(right)) - Math.abs(pointsOf(left)))
  const since = start === undefined ? '' : `, from the week of ${start} on`
  return [
    `${title} ${change > 0 ? 'rose' : 'fell'} by ${points(Math.abs(change))} points to ${percentOf(now)}${since}.`,
    most.length > 0 ? `${listOf(most)} contributed most.` : '',
    against.length > 0 ? `${listOf(against.slice(0, 2))} moved the other way.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

const listOf = (contributions: readonly Contribution[]): string =>
  contributions.map((each) => `${each.name} (${signed(pointsOf(each))})`).join(' and ')

/** Writes tenths of a point. */
const points = (tenths: number): string => (tenths / 10).toFixed(1)

const signed = (tenths: number): string =>
  tenths === 0 ? '0.0' : `${tenths > 0 ? '+' : '−'}${points(Math.abs(tenths))}`
