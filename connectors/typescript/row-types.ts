import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import document from '../../functions/openapi.json' with { type: 'json' }

/** Returns the TypeScript types of the OpenAPI document's schemas. */
export async function rowTypes(): Promise<string> {
  const { components, ...rest } = document
  const folder = await mkdtemp(join(tmpdir(), 'row-types-'))
  try {
    await createClient({
      input: { ...rest, paths: {}, components: { schemas: components.schemas } },
      output: { path: folder, indexFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent' },
    })
    return await readFile(join(folder, 'types.gen.ts'), 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}
