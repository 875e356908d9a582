import { type Emulator, startEmulator } from '../../../emulator/start.ts'
import { LATENCY_MS } from '../steady-load.ts'
import { timed } from '../timing.ts'

/** A run of the publisher. */
export type Run = { readonly seconds: number; readonly objects: number }

type Publishing = { readonly emulator: Emulator; readonly publish: () => Promise<Run> }

/** Starts the service with Neon at a distance, and a publisher that runs when asked. */
export async function withServiceAway<Result>(
  databaseUrl: string,
  work: (publishing: Publishing) => Promise<Result>,
): Promise<Result> {
  let objects = 0
  const emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    databaseUrl,
    latencyMs: LATENCY_MS,
    crons: false,
    onLog: (line) => {
      if (/^{"event":"publish(ed|_behind)"/.test(line)) objects = JSON.parse(line).objects
    },
  })
  const publish = async () => {
    objects = 0
    const seconds = (await timed(() => emulator.runCron('publish'))) / 1000
    return { seconds, objects }
  }
  try {
    return await work({ emulator, publish })
  } finally {
    await emulator.close()
  }
}

/** Publishes until a run finds nothing to write. */
export async function publishAll(publish: Publishing['publish']): Promise<void> {
  while ((await publish()).objects > 0);
}
