import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { environment } from '../../connectors/certify/python-environment.ts'
import { SHARE_BASE } from '../../lib/share/signed-url.ts'

const PROGRAM = fileURLToPath(new URL('./load_tables.py', import.meta.url))

/** Arguments of `load_as_pandas`. */
type Options = { readonly convert_in_batches?: boolean }

/** The official client of Delta Sharing, as a process that loads one table after the other. */
export type OfficialClient = AsyncDisposable & {
  /** Loads `citation_share` into pandas. Returns the number of rows. */
  readonly load: (options: Options) => Promise<number>
}

export async function startOfficialClient(service: string, key: string): Promise<OfficialClient> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-share-'))
  const profile = join(folder, 'export.share')
  const content = { shareCredentialsVersion: 1, endpoint: service + SHARE_BASE, bearerToken: key }
  await writeFile(profile, JSON.stringify(content))
  const python = spawn(
    join(await environment('delta-sharing'), 'python'),
    [PROGRAM, `${profile}#export.metrics.citation_share`],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const closed = once(python, 'close')
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  return {
    load: async (options) => {
      python.stdin.write(`${JSON.stringify(options)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('The official client has ended')
      return Number(value)
    },
    [Symbol.asyncDispose]: async () => {
      python.stdin.end()
      await closed
      await rm(folder, { recursive: true })
    },
  }
}
