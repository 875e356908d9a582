import { parentPort, workerData } from 'node:worker_threads'

// watch.ts starts this thread, with the module whose `render` it runs.
const { render } = await import(workerData)
parentPort?.postMessage(await render())
