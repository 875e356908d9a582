/** Something that goes wrong between a Worker and one of the servers it asks. */
export type Fault = {
  readonly name: string
  /** Whether the Worker has to be able to answer as if nothing had happened. */
  readonly harmless?: boolean
  /** What the Worker gets instead of the genuine answer; a rejection breaks the connection off. */
  readonly strike: (genuine: () => Promise<Response>, request: Request) => Promise<Response>
}

/** A fault that needs to know nothing of the request. */
export const answering = (name: string, answer: () => Response): Fault => ({
  name,
  strike: () => Promise.resolve(answer()),
})

/** A fault that changes the text of the genuine answer. */
export const rewriting = (name: string, rewrite: (text: string) => string): Fault => ({
  name,
  strike: async (genuine) => {
    const { status, headers, text } = await read(await genuine())
    return new Response(rewrite(text), { status, headers })
  },
})

/** A fault that changes the JSON of the genuine answer. */
export const reshaping = (name: string, reshape: (body: unknown) => unknown): Fault =>
  rewriting(name, (text) => JSON.stringify(reshape(JSON.parse(text))) ?? '')

/** An answer, whole. */
export async function read(response: Response): Promise<{ status: number; headers: Headers; text: string }> {
  const { status, headers } = response
  return { status, headers, text: await response.text() }
}
