/** Every setting that `npm run deploy` requires. */
export const DEPLOY_ENVIRONMENT = {
  CLOUDFLARE_API_TOKEN: 'token-of-cloudflare',
  CLOUDFLARE_ZONE: 'example.com',
  API_URL: 'https://api.example.com',
  MIGRATE_DATABASE_URL: 'postgresql://owner:pw-owner@ep-a-1.eu-central-1.aws.neon.tech/export',
  DATABASE_URL: 'postgresql://export_api_reader:pw-reader@ep-a-1-pooler.eu-central-1.aws.neon.tech/export',
  REFRESH_DATABASE_URL:
    'postgresql://export_api_refresher:pw-refresher@ep-a-1-pooler.eu-central-1.aws.neon.tech/export',
  UPSTASH_REDIS_REST_URL: 'https://cache.upstash.io',
  UPSTASH_REDIS_REST_TOKEN: 'token-of-upstash',
  CURSOR_SECRET: 'cursor-secret-of-thirty-two-characters',
}
