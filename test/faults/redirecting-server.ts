import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { portOf } from '../../emulator/port.ts'

/** Starts a server that redirects each request to another one. `followed` are the requests that arrive there. */
export async function startRedirectingServer() {
  const followed: string[] = []
  const elsewhere = await start(({ url = '' }, response) => {
    followed.push(url)
    response.end('{}')
  })
  const redirecting = await start(({ url = '' }, response) => {
    response.writeHead(302, { Location: elsewhere.url + url }).end()
  })
  return {
    url: redirecting.url,
    followed,
    close: () => Promise.all([redirecting.close(), elsewhere.close()]),
  }
}

async function start(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
