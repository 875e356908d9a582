import { spawnSync } from 'node:child_process'

/**
 * Returns the statements with which DuckDB's command line gets its HTTP extension in a folder: from its Python package
 * where there is one, else from DuckDB's server.
 */
export function duckdbSetup(folder: string): string {
  const { stdout: httpfs } = spawnSync(
    'python3',
    [
      '-c',
      `import glob, duckdb_extension_httpfs as package
print(*glob.glob(package.__path__[0] + "/**/*.duckdb_extension", recursive=True), end="")`,
    ],
    { encoding: 'utf8' },
  )
  return `SET extension_directory = '${folder}'; ${httpfs && `INSTALL '${httpfs}'`}`
}
