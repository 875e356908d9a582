import { generate, writeGenerated } from './generate.ts'

// npm run openapi runs it. generate.test.ts fails when a file is out of date.
await writeGenerated(await generate())
