/**
 * The test files that answer for each file of lib/, the quickest first: only these judge its mutants. A mutant that they
 * let live counts as alive, even if a file elsewhere would notice it.
 */
export const TESTS_OF: Readonly<Record<string, readonly string[]>> = {
  'access.ts': ['lib/access', 'functions/brands', 'contract', 'request-log'],
  'api-key.ts': ['lib/api-key', 'lib/cursor', 'contract'],
  'cursor.ts': ['lib/cursor', 'paging', 'rotation'],
  'db.ts': ['lib/db', 'functions/brands', 'held', 'request-log', 'surroundings', 'functions/refresh'],
  'deprecation.ts': ['lib/deprecation'],
  'document.ts': ['conditional', 'contract'],
  'endpoint.ts': [
    'functions/brands',
    'rate-limit',
    'contract',
    'request-log',
    'functions/healthz',
    'surroundings',
  ],
  'env.ts': ['lib/env', 'emulator/settings'],
  'envelope.ts': ['lib/openapi'],
  'errors.ts': ['rate-limit', 'contract', 'lib/openapi'],
  'etag.ts': ['lib/etag', 'conditional'],
  'health.ts': ['lib/health', 'functions/healthz'],
  'json-schema.ts': ['lib/openapi'],
  'keys.ts': ['lib/keys'],
  'listing.ts': ['functions/brands', 'conditional', 'request-log', 'held'],
  'metric.ts': ['window', 'conditional', 'contract', 'paging', 'settled', 'request-log', 'rotation', 'held'],
  'once.ts': ['lib/once', 'functions/brands', 'rotation'],
  'openapi-parts.ts': ['lib/openapi'],
  'openapi.ts': ['lib/openapi'],
  'operation.ts': ['lib/openapi'],
  'over-budget.ts': ['lib/over-budget'],
  'page.ts': ['lib/page', 'window', 'functions/visibility', 'paging', 'settled', 'plan'],
  'parameters.ts': ['lib/parameters', 'lib/openapi', 'contract'],
  'plans.ts': ['lib/plans', 'window', 'lib/openapi', 'contract'],
  'rate-limit.ts': ['lib/network', 'lib/rate-limit', 'functions/brands', 'rate-limit'],
  'refresh.ts': ['functions/refresh'],
  'request-log.ts': ['lib/worker', 'contract', 'request-log'],
  'row.ts': ['lib/row', 'functions/brands'],
  'schemas.ts': ['lib/openapi'],
  'scope.ts': ['functions/brands', 'contract'],
  'site.ts': ['site'],
  'statement.ts': ['lib/statement', 'functions/brands', 'held'],
  'window.ts': ['lib/window', 'window'],
  'worker.ts': ['lib/worker', 'functions/brands', 'conditional', 'contract', 'request-log', 'surroundings'],
}

/** Files whose tests start services of their own, whose switches nobody can ask: each test is taken to reach everything. */
export const STARTING: ReadonlySet<string> = new Set([
  'emulator/settings',
  'functions/healthz',
  'functions/refresh',
  'held',
  'lib/health',
  'lib/rate-limit',
  'plan',
  'request-log',
  'rotation',
  'settled',
  'surroundings',
])

/** All tests but those of five of the six metrics, which one and the same code answers, and one that waits for 8 seconds. */
export const JUDGES =
  /^(?!.*(?:\/(?:citations|citation-share|competitors|recommended-rate|sentiment)\b|silent is 503 after 8 seconds))/

/** The files that statements are made of which the database holds as functions: a mutant's are held as well. */
export const WRITE_STATEMENTS: ReadonlySet<string> = new Set([
  'listing.ts',
  'page.ts',
  'row.ts',
  'scope.ts',
  'statement.ts',
])
