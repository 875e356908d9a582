/** A failure between a Worker and Neon or Upstash. */
export type Fault = {
  readonly name: string
  /** Whether the Worker must answer as without the fault. */
  readonly harmless?: boolean
  /** Returns the Worker's response instead of the genuine one; a rejection breaks the connection. */
  readonly strike: (genuine: () => Promise<Response>, request: Request) => Promise<Response>
}

/** A fault with a fixed response. */
export const answering = (name: string, answer: () => Response): Fault => ({
  name,
  strike: () => Promise.resolve(answer()),
})

/** A fault that changes the text of the genuine response. */
export const rewriting = (name: string, rewrite: (text: string) => string): Fault => ({
  name,
  strike: async (genuine) => {
    const { status, headers, text } = await read(await genuine())
    return new Response(rewrite(text), { status, headers })
  },
})

/** A fault that changes the JSON of the genuine response. */
export const reshaping = (name: string, reshape: (body: unknown) => unknown): Fault =>
  rewriting(name, (text) => JSON.stringify(reshape(JSON.parse(text))) ?? '')

/** Reads a whole response. A fault may change its length. */
export async function read(response: Response): Promise<{ status: number; headers: Headers; text: string }> {
  const { status } = response
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return { status, headers, text: await response.text() }
}
