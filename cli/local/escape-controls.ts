/** Escapes what a terminal interprets, in the form of JSON, whose own writer leaves some of it. */
export function escapeControls(text: string): string {
  const escaped = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, escaped)
}
