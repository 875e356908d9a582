import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SHARE_BASE } from '../../../lib/share/signed-url.ts'
import { environment } from '../../certify/python-environment.ts'

const PROGRAM = fileURLToPath(new URL('./load_tables.py', import.meta.url))

export type Loaded = { readonly ms: number; readonly rows: number }

/** Arguments of `load_as_pandas`. */
type Options = { readonly convert_in_batches?: boolean }

/** Loads `citation_share` from a server into pandas. The time is that of the client, without its start. */
export type Load = (origin: string, options?: Options) => Promise<Loaded>

/** Starts a process of the official client, which loads one table after the other. */
export async function withOfficialClient<Result>(
  key: string,
  work: (load: Load) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-share-'))
  const python = spawn(join(await environment('delta-sharing'), 'python'), [PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(python, 'close')
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  try {
    return await work(async (origin, options = {}) => {
      const profile = join(folder, `${new URL(origin).port}.share`)
      await writeFile(
        profile,
        JSON.stringify({ shareCredentialsVersion: 1, endpoint: origin + SHARE_BASE, bearerToken: key }),
      )
      python.stdin.write(`${JSON.stringify([`${profile}#export.metrics.citation_share`, options])}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('The official client has ended')
      return JSON.parse(value)
    })
  } finally {
    python.stdin.end()
    await closed
    await rm(folder, { recursive: true })
  }
}
