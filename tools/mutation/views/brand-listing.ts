import { brandListing } from '../../../drizzle/views/brand-listing.ts'
import type { MutatedView } from './mutant.ts'

const FIELDS = 'gives each field of a brand, and null for an industry that is not set'
const ZONES = 'gives createdAt in UTC whatever the time zone of the connection'

export const BRAND_LISTING: MutatedView = {
  view: brandListing,
  file: 'functions/brands',
  mutants: [
    {
      sql: 'name collate "C" as',
      becomes: 'name as',
      same: 'A database of the tests sorts by code point itself, unless its server has another locale; the next one has.',
    },
    {
      sql: 'name collate "C"',
      becomes: 'name collate "und-x-icu"',
      needs: 'ICU',
      fails: 'sorts by name in code point order, then by id',
    },
    { sql: 'display_name as "displayName"', becomes: 'name as "displayName"', fails: FIELDS },
    { sql: 'site_url as "siteUrl"', becomes: 'url as "siteUrl"', fails: FIELDS },
    { sql: "to_char(created_at at time zone 'UTC',", becomes: 'to_char(created_at,', fails: ZONES },
    { sql: "'UTC'", becomes: "'Etc/GMT+1'", fails: FIELDS },
    {
      sql: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      becomes: "(created_at at time zone 'UTC')::text",
      fails: FIELDS,
    },
    { sql: 'HH24', becomes: 'HH12', fails: FIELDS },
    { sql: 'SS.MS"Z"', becomes: 'SS"Z"', fails: FIELDS },
    { sql: 'SS.MS"Z"', becomes: 'SS.US"Z"', fails: FIELDS },
  ],
}
