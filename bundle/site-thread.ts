import { parentPort } from 'node:worker_threads'
import { files } from '../site/files.ts'

// watch.ts starts this thread.
parentPort?.postMessage(await files())
