import { UsageError } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/app.ts'
import type { Service } from './ask.ts'
import { smoke } from './smoke.ts'

/** The address of a service as people paste it: with or without the API's path, and a slash at the end. */
export function originOf(text: string): string {
  const url = text.replace(/\/+$/, '').replace(new RegExp(`${BASE}$`), '')
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url
  throw new UsageError('The address of the service must look like https://api.example.com.')
}

/** Tries a service and prints what it found as a table; throws a {@link UsageError} with a sentence for each failure. */
export async function reportSmoke(service: Service): Promise<void> {
  const failures: string[] = []
  for await (const { what, says, failure } of smoke(service)) {
    console.log(`${what.padEnd(20)} ${says}`)
    if (failure !== undefined) failures.push(`${what}: ${failure}`)
  }
  if (service.key === undefined) {
    console.log('Without a key, what needs one was not tried: EXPORT_API_KEY=… npm run smoke tries it.')
  }
  if (failures.length > 0) throw new UsageError(failures.join('\n'))
}
