import { save } from '../charts/elements.ts'
import { type ApiRequest, amount, chunksOf, FileError, fetchFile, type Reading } from './request.ts'

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/**
 * Downloads a CSV file and saves it when it is complete, with the brand's name instead of its id. Returns what happened,
 * as a sentence.
 */
export async function downloadCsv(request: ApiRequest, brand: string, reading: Reading): Promise<string> {
  let arrived = ''
  try {
    const { headers, body } = await fetchFile(request, 'csv', reading)
    const chunks: Uint8Array<ArrayBuffer>[] = []
    const countRows = rowCounter()
    let [rows, bytes] = [0, 0]
    for await (const chunk of chunksOf(body)) {
      chunks.push(chunk)
      bytes += chunk.length
      rows = countRows(chunk)
      arrived = `${amount(rows)}, ${sizeOf(bytes)}`
      reading.onProgress(arrived)
    }
    // A proxy can end a transfer that it could not finish.
    if (rows !== Number(headers.get('X-Expected-Rows') ?? rows)) throw new Error('Rows are missing.')
    const [, file = 'export.csv'] = /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '') ?? []
    const name = file.replace(UUID, () => brand)
    save(name, new Blob(chunks, { type: 'text/csv' }))
    return `Saved ${name}: ${arrived}.`
  } catch (error) {
    if (reading.signal.aborted) return 'Canceled. Nothing was saved.'
    if (error instanceof FileError) return error.message
    return arrived === ''
      ? 'No response. Check your connection, then download the file again.'
      : `The transfer failed after ${arrived}. Nothing was saved. Download the file again.`
  }
}

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

const QUOTE = 0x22
const LINE_FEED = 0x0a

/** Returns a function that counts the rows of a CSV file from its chunks: line feeds outside quotes after the header. */
function rowCounter(): (chunk: Uint8Array) => number {
  let lines = 0
  let isQuoted = false
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) lines += 1
    }
    return Math.max(0, lines - 1)
  }
}
