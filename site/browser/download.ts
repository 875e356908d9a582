import { createElement } from '../../charts/elements.ts'
import { rowCounter } from './csv.ts'
import { type ApiRequest, fetchResponse } from './request.ts'
import { errorOf } from './response-view.ts'

type Progress = { readonly rows: number; readonly bytes: number }

type Download = {
  readonly request: ApiRequest
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** Downloads a CSV file and saves it when it is complete. Returns what happened, as a sentence. */
export async function downloadCsv({ request, signal, onProgress }: Download): Promise<string> {
  let progress: Progress = { rows: 0, bytes: 0 }
  try {
    const query = { ...request.query, format: 'csv' }
    const response = await fetchResponse({ ...request, query }, signal)
    if (response.status !== 200 || response.body === null) {
      return `${response.status}: ${errorOf({ status: response.status, text: await response.text() })}`
    }
    const chunks: Uint8Array<ArrayBuffer>[] = []
    const countRows = rowCounter()
    for await (const chunk of chunksOf(response.body)) {
      chunks.push(chunk)
      progress = { rows: countRows(chunk), bytes: progress.bytes + chunk.length }
      onProgress(progress)
    }
    const name =
      /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'export.csv'
    save(name, new Blob(chunks, { type: 'text/csv' }))
    return `Saved ${name}: ${amount(progress)}.`
  } catch {
    if (signal.aborted) return 'Canceled. Nothing was saved.'
    return progress.bytes === 0
      ? 'No response. Check your connection, then download the file again.'
      : `The transfer failed after ${amount(progress)}. Nothing was saved. Download the file again.`
  }
}

/** Yields the chunks of a body. Safari's streams are not iterable. */
async function* chunksOf(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = body.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}

/** Saves a file under a name. */
export function save(name: string, file: Blob): void {
  const href = URL.createObjectURL(file)
  createElement('a', { href, download: name }).click()
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

/** Writes an amount, for example "12,000 rows, 1.4 MB". */
export function amount({ rows, bytes }: Progress): string {
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB']
  return `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}, ${size.toFixed(1)} ${unit}`
}
