import { brands } from '../refresh/brands.ts'
import { day } from '../refresh/day.ts'
import { load } from '../refresh/load.ts'
import type { Section } from '../section.ts'

/** What changes cost: the load that writes them, the log, and the refresh. */
export const section: Section = async (setting) => [
  await load(setting),
  await day(setting),
  await brands(setting),
]
