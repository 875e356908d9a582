/** The deprecation of an endpoint: days as `YYYY-MM-DD`, and the address of a page about its replacement. */
export type Deprecation = { readonly since: string; readonly sunset: string; readonly link: string }

/** Returns the headers that announce an endpoint's end (RFC 9745, RFC 8594); none without a deprecation. */
export function deprecationHeaders(deprecated: Deprecation | undefined): Readonly<Record<string, string>> {
  if (deprecated === undefined) return {}
  const { since, sunset, link } = deprecated
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${link}>; rel="deprecation"`,
  }
}
