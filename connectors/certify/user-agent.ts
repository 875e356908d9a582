/** How User-Agents begin that libraries and programs send when a loader sets none. */
const DEFAULT =
  /^(python|aiohttp|curl\/|wget\/|go-http-client|node$|node-fetch|undici|axios\/|got |java|okhttp|apache-httpclient|ruby|guzzlehttp|duckdb\/|dlt\/)/i

/** Returns what is wrong with the User-Agents that a loader sent. */
export function wrongUserAgents(agents: ReadonlySet<string>): string[] {
  if (agents.size > 1) return [`It sent ${agents.size}: ${[...agents].join(', ')}.`]
  return [...agents].flatMap((agent) => {
    if (agent === '') return ['It sent none.']
    return DEFAULT.test(agent) ? [`It sent ${agent}, the default of a library.`] : []
  })
}
