import { connect } from 'node:net'

/** A header as its bytes, a character each. */
export type Field = readonly [name: string, value: string]

/** A request as its bytes go over the wire, a character each: nothing in it is escaped, ordered or mended. */
export type RawRequest = {
  readonly method?: string
  /** The request target: a path with its query, or whatever else should stand there. */
  readonly target: string
  readonly fields?: readonly Field[]
}

/** What came back; names of headers in lower case. */
export type Received = { readonly status: number; readonly fields: readonly Field[]; readonly body: string }

const PATIENCE_MS = 20_000

/** Sends a request over a connection of its own, byte for byte; null when that was closed without an answer. */
export function send(
  service: string,
  { method = 'GET', target, fields = [] }: RawRequest,
): Promise<Received | null> {
  const { hostname, port, host } = new URL(service)
  const named = fields.some(([name]) => name.toLowerCase() === 'host') ? fields : [['Host', host], ...fields]
  const head = `${method} ${target} HTTP/1.1\r\n${named.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(head, 'latin1'))
    const settle = () => {
      socket.destroy()
      resolve(parse(text))
    }
    socket.setEncoding('latin1')
    socket.setTimeout(PATIENCE_MS, () =>
      socket.destroy(new Error(`No whole answer within ${PATIENCE_MS} ms`)),
    )
    socket.on('data', (chunk) => {
      text += chunk
      if (isWhole(text, method)) settle()
    })
    socket.on('end', settle)
    // A server that rejects a request may close before it has read all of it.
    socket.on('error', (error) => (/ECONNRESET|EPIPE/.test(error.message) ? settle() : reject(error)))
  })
}

/** The value of a header that an answer has once; undefined when it is not there. */
export const fieldOf = ({ fields }: Pick<Received, 'fields'>, name: string): string | undefined =>
  fields.find(([each]) => each === name)?.[1]

const HEAD_END = '\r\n\r\n'

const isChunked = (answer: Pick<Received, 'fields'>): boolean =>
  fieldOf(answer, 'transfer-encoding') === 'chunked'

function isWhole(text: string, method: string): boolean {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return false
  const head = readHead(text.slice(0, end))
  if (method === 'HEAD' || head.status === 304 || head.status === 204) return true
  if (isChunked(head)) return text.endsWith('\r\n0\r\n\r\n') || text.endsWith('\r\n\r\n0\r\n\r\n')
  const length = fieldOf(head, 'content-length')
  return length !== undefined && text.length - end - HEAD_END.length >= Number(length)
}

function readHead(text: string): Omit<Received, 'body'> {
  const [start = '', ...lines] = text.split('\r\n')
  const fields = lines.map((line): Field => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(start.split(' ')[1]), fields }
}

function parse(text: string): Received | null {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return null
  const head = readHead(text.slice(0, end))
  const rest = text.slice(end + HEAD_END.length)
  return { ...head, body: Buffer.from(isChunked(head) ? join(rest) : rest, 'latin1').toString() }
}

/** The text of a body that came in chunks. */
function join(chunks: string): string {
  let body = ''
  let at = 0
  for (;;) {
    const start = chunks.indexOf('\r\n', at) + 2
    const size = Number.parseInt(chunks.slice(at, start), 16)
    if (!(size > 0)) return body
    body += chunks.slice(start, start + size)
    at = start + size + 2
  }
}
