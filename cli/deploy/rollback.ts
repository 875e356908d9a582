import { UsageError } from '../../drizzle/db/connect.ts'
import { historyOf, newestRelease, type Version, versionBefore } from './versions.ts'
import { reasonOfFailure, wrangler } from './wrangler.ts'

/** What a rollback means for a Worker: the version that is live, and the one that shall be; undefined when it stays. */
export type Return = { readonly name: string; readonly live: Version; readonly to: Version | undefined }

/**
 * What each Worker goes back to when the newest release is left. One that a release broken off, or a rollback, has
 * brought to another release already stays; so a rollback that failed half-way can be begun again.
 */
export async function returnsOf(config: string, names: readonly string[]): Promise<Return[]> {
  const found = []
  for (const name of names) {
    const history = await historyOf(config, name)
    if (history !== undefined) found.push({ name, history })
  }
  const leaving = newestRelease(found.map(({ history }) => history))
  const returns = found.map(({ name, history }) => ({
    name,
    live: history.live,
    to: history.live.release === leaving ? versionBefore(history, leaving) : undefined,
  }))
  if (returns.some(({ to }) => to !== undefined)) return returns
  throw new UsageError('No Worker has a release before: there is nothing to go back to.')
}

/** Puts the Workers back, one after the other; the first that fails ends it, with a {@link UsageError}. */
export async function rollBack(config: string, returns: readonly Return[]): Promise<void> {
  const going = returns.flatMap(({ name, live, to }) => (to === undefined ? [] : [{ name, live, to }]))
  for (const [index, { name, live, to }] of going.entries()) {
    const where = ['--config', config, '--env', name]
    const ran = await wrangler([
      'rollback',
      to.id,
      ...where,
      '--message',
      `Back from ${live.release}`,
      '--yes',
    ])
    if (ran.code === 0) continue
    const rest = going.slice(index).map((each) => each.name)
    throw new UsageError(
      `${name} could not be put back: ${reasonOfFailure(ran)}\nNot back yet: ${rest.join(', ')}. npm run rollback goes on with them.`,
    )
  }
}
