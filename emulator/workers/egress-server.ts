import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers a request as one server answers another; its signal tells when nobody waits for the answer any more. */
export type Answer = (request: Request) => Promise<Response>

/**
 * Passes a request that a Worker sends to `answer`, and the answer back as it comes. An answer that fails, before or
 * after its first byte, breaks the connection off, as the end of a server does.
 */
export async function relay(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
): Promise<void> {
  const left = new AbortController()
  outgoing.on('close', () => left.abort())
  try {
    const { status, headers, body } = await answer(await requestOf(incoming, left.signal))
    outgoing.writeHead(status, [...headers].flat()).flushHeaders()
    await body?.pipeTo(sinkOf(outgoing), { signal: left.signal })
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url = '/', headers, headersDistinct } = incoming
  const bodiless = method === 'GET' || method === 'HEAD'
  return new Request(new URL(url, `https://${headers.host}`), {
    method,
    headers: Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
    body: bodiless ? null : await bytesOf(incoming),
    signal,
  })
}

async function bytesOf(incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

const sinkOf = (outgoing: ServerResponse): WritableStream<Uint8Array> =>
  new WritableStream({
    write: (chunk) => new Promise((resolve) => outgoing.write(chunk, () => resolve())),
  })
