import { inject } from 'vitest'
import { readNeonProxy } from '../../emulator/settings.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/start.ts'

/** Starts a service apart from the run's, out of the same bundles and over the same database unless said otherwise. */
export const startOwnService = (options: Partial<EmulatorOptions> = {}): Promise<Emulator> =>
  startEmulator({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: inject('databaseUrl'),
    neonProxy: readNeonProxy(process.env),
    bundle: false,
    crons: false,
    ...options,
  })
