import { Socket } from 'node:net'

/**
 * A socket that fails when its data cannot be parsed. pg's parser throws on bytes that are not Postgres's protocol, and
 * an uncaught error would end the process.
 */
export class GuardedSocket extends Socket {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    try {
      return super.emit(event, ...values)
    } catch (error) {
      if (event !== 'data') throw error
      this.destroy(error instanceof Error ? error : new Error(String(error)))
      return true
    }
  }
}
