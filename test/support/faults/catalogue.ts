import type { Service } from '../../../emulator/workers/outbound.ts'
import type { Fault } from './fault.ts'
import { GARBAGE } from './garbage.ts'
import { NEON_FAULTS } from './neon.ts'
import { STATUS_FAULTS } from './statuses.ts'
import { UPSTASH_FAULTS } from './upstash.ts'
import { WIRE } from './wire.ts'

const ANYWHERE = [...WIRE, ...GARBAGE, ...STATUS_FAULTS]

/** Every fault of each server that ends within a second or so; those that do not are `SILENCES`. */
export const FAULTS: Readonly<Record<Service, readonly Fault[]>> = {
  neon: [...ANYWHERE, ...NEON_FAULTS],
  upstash: [...ANYWHERE, ...UPSTASH_FAULTS],
}
