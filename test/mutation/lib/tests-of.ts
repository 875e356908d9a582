/**
 * The test files that answer for each file of lib/, the quickest first: only these judge its mutants. A mutant that they
 * let live counts as alive, even if a file elsewhere would notice it.
 */
export const TESTS_OF: Readonly<Record<string, readonly string[]>> = {
  'access.ts': ['contract', 'surroundings', 'faults/neon'],
  'api-key.ts': ['lib/api-key', 'contract'],
  'cursor.ts': ['lib/cursor', 'paging', 'rotation'],
  'db.ts': ['contract', 'lib/db', 'surroundings', 'request-log'],
  'document.ts': ['functions/openapi', 'contract', 'conditional'],
  'endpoint.ts': ['conditional', 'contract', 'rate-limit', 'request-log', 'surroundings'],
  'env.ts': ['lib/env', 'surroundings', 'emulator/settings'],
  'errors.ts': ['contract', 'rate-limit', 'surroundings'],
  'etag.ts': ['lib/etag', 'conditional'],
  'health.ts': ['functions/healthz'],
  'json-schema.ts': ['functions/openapi'],
  'keys.ts': ['lib/keys'],
  'listing.ts': ['functions/brands', 'contract', 'conditional', 'request-log'],
  'metric.ts': ['window', 'settled', 'conditional', 'paging', 'request-log', 'contract', 'rotation'],
  'once.ts': ['functions/brands', 'contract'],
  'openapi-parts.ts': ['functions/openapi'],
  'openapi.ts': ['functions/openapi'],
  'operation.ts': ['functions/openapi'],
  'page.ts': ['functions/visibility', 'settled', 'window', 'paging', 'surroundings'],
  'parameters.ts': ['lib/parameters', 'contract'],
  'plans.ts': ['lib/plans', 'window', 'contract'],
  'rate-limit.ts': ['lib/network', 'rate-limit', 'surroundings'],
  'refresh.ts': ['functions/refresh'],
  'request-log.ts': ['request-log', 'contract'],
  'row.ts': ['lib/row', 'functions/brands'],
  'schemas.ts': ['functions/openapi'],
  'scope.ts': ['functions/brands', 'contract'],
  'window.ts': ['lib/window', 'window'],
}

/** Files whose tests start services of their own, whose switches nobody can ask: each test is taken to reach everything. */
export const STARTING: ReadonlySet<string> = new Set([
  'emulator/settings',
  'faults/neon',
  'functions/healthz',
  'functions/refresh',
  'request-log',
  'rotation',
  'settled',
  'surroundings',
])

/** Tests that no mutant is judged by: they look at what is stored, or take long for what others see at once. */
export const LEFT_OUT = /^(lints clean|has examples that are answers of the demo data)/
