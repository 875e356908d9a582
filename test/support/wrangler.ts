import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FAKE = fileURLToPath(new URL('./fake-wrangler.mjs', import.meta.url))

/** A call of wrangler, with the content of the files that it named. */
export type WranglerCall = {
  readonly args: readonly string[]
  readonly worker?: string
  readonly config?: unknown
  readonly secrets?: Readonly<Record<string, string>>
}

/** Puts a wrangler into a folder of its own that records its calls and deploys nothing. */
export async function fakeWrangler() {
  const folder = await mkdtemp(join(tmpdir(), 'fake-wrangler-'))
  const log = join(folder, 'calls')
  const bin = join(folder, 'wrangler')
  await writeFile(log, '')
  await writeFile(bin, `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' "$@"\n`)
  await chmod(bin, 0o755)
  return {
    /** Makes a command find it. */
    environment: { PATH: `${folder}${delimiter}${process.env.PATH}`, FAKE_WRANGLER: log },
    calls: async (): Promise<WranglerCall[]> =>
      (await readFile(log, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    remove: () => rm(folder, { recursive: true }),
  }
}

export type FakeWrangler = Awaited<ReturnType<typeof fakeWrangler>>
