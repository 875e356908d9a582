import { run } from './run.ts'
import { bundle } from './workers/bundle.ts'

// npm run bundle
await run(async () => {
  for (const { name, bytes, gzip } of await bundle()) {
    console.log(`${name.padEnd(20)} ${String(bytes).padStart(8)} bytes ${String(gzip).padStart(8)} gzip`)
  }
})
