/** Stands in bundles for what @upstash/ratelimit would send its analytics with: it is never switched on. */
export class Analytics {}
