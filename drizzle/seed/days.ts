import { createHash } from 'node:crypto'

/** The influences on one day's metrics. They depend on the date only, not on when the seed runs. */
export interface DemoDay {
  readonly day: string
  /** 0 to 1: position in the long cycle with which brands rise or fall. */
  readonly trend: number
  /** Weekly pattern with daily noise, around 0. */
  readonly variation: number
  /** 0 to 1: effect of the quarter's product launch. */
  readonly launch: number
  /** Sentiment phrases of brands with gaps: all, neutral only, or none (`silent`). */
  readonly phrases: 'all' | 'neutral' | 'silent'
}

const DAY = 86_400_000
const HISTORY_DAYS = 120

/** A cycle of 300 days that rises for 210 of them. Any 120 days show a trend. */
const CYCLE = { start: Date.parse('2026-06-01') / DAY, days: 300, ascent: 210 }

/** Effect of the weekday, from Monday to Sunday. */
const WEEK = [0.012, 0.018, 0.014, 0.006, -0.006, -0.026, -0.018]

/** A launch in the fifth week of each quarter: a step up that fades. */
const LAUNCH = { start: 29, shape: [0.5, 1, 1, 0.9, 0.8, 0.65, 0.5, 0.35, 0.25, 0.15] }

/** Returns the 120 days through `today`, oldest first. */
export function demoDays(today: string): readonly DemoDay[] {
  const last = Date.parse(today) / DAY
  return Array.from({ length: HISTORY_DAYS }, (_, index) => demoDay(last - HISTORY_DAYS + 1 + index))
}

function demoDay(number: number): DemoDay {
  const date = new Date(number * DAY)
  const day = date.toISOString().slice(0, 10)
  const quarterStart = Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3) / DAY
  return {
    day,
    trend: round(slope(number)),
    variation: round((WEEK[(date.getUTCDay() + 6) % 7] ?? 0) + noise(day)),
    launch: LAUNCH.shape[number - quarterStart - LAUNCH.start] ?? 0,
    phrases: number % 17 === 3 ? 'silent' : number % 13 === 5 ? 'neutral' : 'all',
  }
}

function slope(number: number): number {
  const position = (((number - CYCLE.start) % CYCLE.days) + CYCLE.days) % CYCLE.days
  return position < CYCLE.ascent
    ? position / CYCLE.ascent
    : (CYCLE.days - position) / (CYCLE.days - CYCLE.ascent)
}

function noise(day: string): number {
  return (createHash('md5').update(day).digest().readUInt8(0) / 255 - 0.5) * 0.03
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
