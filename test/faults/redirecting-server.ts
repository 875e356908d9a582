import { startLocalServer } from '../../connectors/certify/local-server.ts'

/** Starts a server that redirects each request to another one. `followed` are the requests that arrive there. */
export async function startRedirectingServer() {
  const followed: string[] = []
  const elsewhere = await startLocalServer(({ url = '' }, response) => {
    followed.push(url)
    response.end('{}')
  })
  const redirecting = await startLocalServer(({ url = '' }, response) => {
    response.writeHead(302, { Location: elsewhere.url + url }).end()
  })
  return {
    url: redirecting.url,
    followed,
    close: () => Promise.all([redirecting.close(), elsewhere.close()]),
  }
}
