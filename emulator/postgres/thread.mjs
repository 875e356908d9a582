import { register } from 'tsx/esm/api'

// On Node 20, a thread does not inherit what runs TypeScript in its process.
if (!process.features.typescript) register()
await import('./thread.ts')
