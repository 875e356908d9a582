import { readFileSync } from 'node:fs'
import type { Generated } from './generated.ts'

/** Copies the client of the API, since a project of Apps Script cannot import a file of another. */
export const appsScript = (): Generated[] => {
  const client = readFileSync(new URL('../sheets/Api.js', import.meta.url), 'utf8')
  const header = '// Copied from connectors/sheets/Api.js by `npm run connectors`.\n'
  return [{ path: 'looker-studio/Api.js', text: header + client }]
}
