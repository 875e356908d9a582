import { readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import type { ClientBase } from 'pg'

/** What a run was measured on, in one line. */
export async function machine(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ version: string; buffers: string; memory: string }>(
    `select split_part(version(), ' (', 1) as version, current_setting('shared_buffers') as buffers,
       current_setting('work_mem') as memory`,
  )
  const server = rows.map(
    ({ version, buffers, memory }) => `${version} (shared_buffers ${buffers}, work_mem ${memory})`,
  )
  return [`${availableParallelism()} cores, ${model()}`, ...server, `Node ${process.versions.node}`].join(
    ' · ',
  )
}

function model(): string {
  try {
    const named = /^model name\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
    if (named) return named
  } catch {
    // Not Linux.
  }
  return cpus()[0]?.model ?? process.arch
}
