import type { Service } from '../../emulator/workers/outbound.ts'
import { WIRE } from './connections.ts'
import type { Fault } from './fault.ts'
import { GARBAGE } from './invalid-responses.ts'
import { NEON_FAULTS } from './neon.ts'
import { UPSTASH_FAULTS } from './upstash.ts'

/** Every fault of each server that ends within three seconds or so; those that do not are `SILENCES`. */
export const FAULTS: Readonly<Record<Service, readonly Fault[]>> = {
  neon: [...WIRE, ...GARBAGE, ...NEON_FAULTS],
  upstash: [...WIRE, ...GARBAGE, ...UPSTASH_FAULTS],
}
