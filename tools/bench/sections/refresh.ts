import { brands } from '../refresh/brands.ts'
import { load } from '../refresh/load.ts'
import type { Section } from '../section.ts'

/** What changes cost: the load that writes them, the log, and the lanes of the refresh. */
export const section: Section = async (setting) => [await load(setting), await brands(setting)]
