import { parentPort } from 'node:worker_threads'
import { render } from '../../site/files.ts'

// watch.ts starts this thread.
parentPort?.postMessage(await render())
