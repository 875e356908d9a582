import { Socket } from 'node:net'

/**
 * A connection that ends with an error where what it brings can't be read. The driver's parser throws on bytes that are
 * no PostgreSQL's, and by itself that ends the process, not the connection.
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
