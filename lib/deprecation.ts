/** What is said of an endpoint that will go: days as `YYYY-MM-DD`, and an address that tells what to read instead. */
export type Deprecation = { readonly since: string; readonly sunset: string; readonly link: string }

/** The headers that announce an endpoint's end (RFC 9745, RFC 8594); none for one that stays. */
export function deprecationHeaders(deprecated: Deprecation | undefined): Readonly<Record<string, string>> {
  if (deprecated === undefined) return {}
  const { since, sunset, link } = deprecated
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${link}>; rel="deprecation"`,
  }
}
