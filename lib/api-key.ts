const FORM = /^svc_live_[0-9a-f]{64}$/

/** Whether text has the form of an export key (specification, section 5). */
export const isApiKey = (text: string): boolean => FORM.test(text)

/** A new random key; whoever mints it shows it once and stores its hash. */
export function mintApiKey(): string {
  return `svc_live_${hex(crypto.getRandomValues(new Uint8Array(32)))}`
}

/** SHA-256 of a text in lowercase hex: the form in which secrets leave this process. */
export const sha256 = async (text: string): Promise<string> => hex(await sha256Bytes(text))

/** SHA-256 of a text, 32 bytes. */
export async function sha256Bytes(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** Bytes in lowercase hex. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
