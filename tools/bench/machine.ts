import { availableParallelism, cpus } from 'node:os'
import type { ClientBase } from 'pg'

/** Describes the machine and the PostgreSQL server of a run in one line. */
export async function machine(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ server: string }>(
    `select format('%s (shared_buffers %s, work_mem %s)', split_part(version(), ' (', 1),
       current_setting('shared_buffers'), current_setting('work_mem')) as server`,
  )
  const cores = `${availableParallelism()} cores, ${cpus()[0]?.model ?? process.arch}`
  return [cores, ...rows.map(({ server }) => server), `Node ${process.versions.node}`].join(' · ')
}
