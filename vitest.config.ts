import { defineConfig } from 'vitest/config'

// `npx vitest` watches the unit tests, which start no server; `vitest run` runs every project that is not filtered out.
const isRun = process.argv.includes('run')

/** Tests that run programs of other ecosystems, most of them in Python. */
const ENGINES = [
  'test/engines/**/*.test.ts',
  'connectors/certify/**/*.test.ts',
  'connectors/{airbyte,dbt,delta-sharing,dlt,duckdb,recipes,singer}/**/*.test.ts',
  'connectors/typescript/test/engines/*.test.ts',
]

const overServers = {
  globalSetup: ['test/fixtures/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // The default of one second fails on a busy machine.
  expect: { poll: { timeout: 30_000 } },
}

export default defineConfig({
  test: {
    maxWorkers: '100%',
    ...(!isRun && { project: ['unit'] }),
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...overServers } },
      { test: { name: 'embedded', include: ['test/embedded/**/*.test.ts'], ...overServers } },
      { test: { name: 'histories', include: ['test/histories/**/*.test.ts'], ...overServers } },
      {
        test: {
          name: 'connectors',
          include: ['connectors/**/*.test.ts'],
          exclude: ENGINES,
          ...overServers,
          testTimeout: 600_000,
        },
      },
      // The rest needs more programs or more time. `.ci/full` runs it, `.ci/run` does not.
      { test: { name: 'robustness', include: ['test/robustness/**/*.test.ts'], ...overServers } },
      { test: { name: 'browser', include: ['test/browser/**/*.test.ts'], ...overServers } },
      {
        test: {
          name: 'engines',
          include: ENGINES,
          ...overServers,
          // Includes the installation of an engine.
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
