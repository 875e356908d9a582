/** Replaces @upstash/core-analytics in bundles: @upstash/ratelimit imports it even when analytics are off. */
export class Analytics {}
