import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FAKE = fileURLToPath(new URL('./fake-wrangler.mjs', import.meta.url))

/** One run of wrangler, as it was told. */
export type Told = {
  readonly args: readonly string[]
  readonly stdin: string
  readonly config?: { readonly env: Readonly<Record<string, { readonly routes?: readonly object[] }>> }
  readonly secrets?: Readonly<Record<string, string>>
}

type State = {
  who: { loggedIn: boolean; accounts?: { id: string; name: string }[] }
  /** Workers that cannot be deployed or put back, and why. */
  fails: string[]
  reason: string
  calls: Told[]
  versions: Record<string, { id: string; annotations: Record<string, string> }[]>
  deployments: Record<string, { versions: { version_id: string }[] }[]>
}

/** A wrangler on a path of its own, with an account and no Workers yet. */
export async function fakeWrangler() {
  const folder = await mkdtemp(join(tmpdir(), 'fake-wrangler-'))
  const file = join(folder, 'state.json')
  const bin = join(folder, 'wrangler')
  await writeFile(bin, `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' "$@"\n`)
  await chmod(bin, 0o755)
  const read = async (): Promise<State> => JSON.parse(await readFile(file, 'utf8'))
  const change = async (some: Partial<State>) =>
    writeFile(file, JSON.stringify({ ...(await read()), ...some }))
  const state: State = {
    who: { loggedIn: true, accounts: [{ id: 'account-1', name: 'Mine' }] },
    fails: [],
    reason: '',
    calls: [],
    versions: {},
    deployments: {},
  }
  await writeFile(file, JSON.stringify(state))
  return {
    /** What makes a command find it. */
    environment: { PATH: `${folder}${delimiter}${process.env.PATH}`, FAKE_WRANGLER: file },
    read,
    change,
    /** The release that each Worker is on. */
    live: async (): Promise<Record<string, string>> => {
      const { versions, deployments } = await read()
      return Object.fromEntries(
        Object.entries(deployments).map(([worker, all]) => {
          const id = all.at(-1)?.versions[0]?.version_id
          const version = versions[worker]?.find((each) => each.id === id)
          return [worker, version?.annotations['workers/tag'] ?? '']
        }),
      )
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

export type FakeWrangler = Awaited<ReturnType<typeof fakeWrangler>>
