-- Reads the Export API in DuckDB 1.5: macros for the brands, the metrics and the formulas of a window.
--
-- Set the address and the key first, then read this file:
--   set variable export_api_url = 'https://api.example.com';
--   set variable export_api_key = getenv('EXPORT_API_KEY');
--   .read export_api.sql

-- Leaves out what people paste around them. What cannot be right becomes null.
set variable export_api_url = nullif(regexp_extract(
  getvariable('export_api_url'), '(?i)^\s*(https?://[\w.:/\[\]-]+?)(/api/export/v1)?/*\s*$', 1
), '');
set variable export_api_key = nullif(regexp_extract(getvariable('export_api_key'), '^\s*([!-~]+)\s*$', 1), '');

create or replace secret export_api (
  type http,
  -- A scope is a prefix. The slash keeps the key from addresses that only begin like this one.
  scope coalesce(
    getvariable('export_api_url') || '/',
    error('Set the variable export_api_url to an address such as https://api.example.com.')
  ),
  extra_http_headers map {
    'X-API-Key': coalesce(
      getvariable('export_api_key'),
      error('Set the variable export_api_key to your API key, without other characters.')
    ),
    -- The rate limit counts by this header, or else by address and User-Agent.
    'Authorization': 'Bearer ' || getvariable('export_api_key'),
    'User-Agent': 'export-api-duckdb/1.0.0'
  }
);

set force_download = true; -- no HEAD request before each file
set errors_as_json = true; -- shows the sentence of the service

-- DuckDB ignores Retry-After. Its retries wait 0, 1, 2, 4 and 8 s, longer than the 12 s of a refill.
set http_retries = 5;
set http_retry_wait_ms = 1000;
set http_retry_backoff = 2;

-- Returns the rows of a file for each brand. A date that is null is left out.
create or replace macro export_api_rows(endpoint, brand_ids, from_date, to_date, fields) as table
select cast(regexp_extract(filename, 'brandId=([^&]*)', 1) as uuid) as brand_id, *
from read_json(
  list_transform(brand_ids, lambda brand_id: concat_ws(
    '&',
    concat(getvariable('export_api_url'), '/api/export/v1/', endpoint, '?format=ndjson'),
    'brandId=' || cast(brand_id as uuid),
    'fromDate=' || cast(from_date as date),
    'toDate=' || cast(to_date as date)
  )),
  format = 'newline_delimited',
  columns = fields
);

-- <generated macros>
create or replace macro export_api_brands() as table
select * rename ("displayName" as display_name, "siteUrl" as site_url, "createdAt" as created_at)
from read_json(
  concat(getvariable('export_api_url'), '/api/export/v1/brands?format=ndjson'),
  format = 'newline_delimited',
  columns = {
    "id": 'uuid', "name": 'varchar', "displayName": 'varchar', "url": 'varchar',
    "siteUrl": 'varchar', "industry": 'varchar', "createdAt": 'timestamp'
  }
);

create or replace macro export_api_visibility(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('visibility', brand_ids, from_date, to_date, {
  "date": 'date', "model_id": 'varchar', "provider": 'varchar',
  "market_id": 'uuid', "market": 'varchar', "total_prompts": 'bigint',
  "visible_count": 'bigint', "visibility_rate": 'decimal(18, 4)'
});

create or replace macro export_api_competitors(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('competitors', brand_ids, from_date, to_date, {
  "date": 'date', "competitor_name": 'varchar', "total_responses": 'bigint',
  "competitor_visible_responses": 'bigint', "competitor_visibility_rate": 'decimal(18, 4)'
});

create or replace macro export_api_citations(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('citations', brand_ids, from_date, to_date, {
  "date": 'date', "url": 'varchar', "domain": 'varchar', "is_owned": 'boolean',
  "citations": 'bigint'
});

create or replace macro export_api_citation_share(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('citation-share', brand_ids, from_date, to_date, {
  "date": 'date', "url": 'varchar', "domain": 'varchar', "is_owned": 'boolean',
  "citations": 'bigint', "owned_citations": 'bigint'
});

create or replace macro export_api_sentiment(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('sentiment', brand_ids, from_date, to_date, {
  "date": 'date', "positive_mentions": 'bigint', "neutral_mentions": 'bigint',
  "negative_mentions": 'bigint', "positive_weight": 'decimal(18, 4)',
  "negative_weight": 'decimal(18, 4)', "sentiment_score": 'decimal(18, 4)'
});

create or replace macro export_api_recommended_rate(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('recommended-rate', brand_ids, from_date, to_date, {
  "date": 'date', "entity_name": 'varchar', "is_brand": 'boolean',
  "recommended_rate": 'decimal(18, 4)', "judged_answers": 'bigint'
});

-- Visibility of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0.
create or replace macro visibility_rate(visible_count, total_prompts) as
  100.0 * sum(visible_count) / nullif(sum(total_prompts), 0);

-- Competitor visibility of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0. Group by competitor_name.
create or replace macro competitor_visibility_rate(competitor_visible_responses, total_responses) as
  100.0 * sum(competitor_visible_responses) / nullif(sum(total_responses), 0);

-- Citation Share of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0.
create or replace macro citation_share(owned_citations, citations) as
  100.0 * sum(owned_citations) / nullif(sum(citations), 0);

-- Sentiment of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0.
create or replace macro sentiment_score(positive_weight, negative_weight) as
  100.0 * sum(positive_weight) / nullif(sum(positive_weight) + sum(negative_weight), 0);

-- Recommended rate of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0. Group by is_brand and entity_name.
create or replace macro recommended_rate(recommended_rate, judged_answers) as
  100.0 * sum(round(recommended_rate * judged_answers / 100)) / nullif(sum(judged_answers), 0);
-- </generated macros>
