CREATE VIEW "metrics"."brand_listing" AS (
    select
      id,
      organization_id,
      active,
      name collate "C" as name,
      display_name as "displayName",
      url,
      site_url as "siteUrl",
      industry,
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from public.brands
  );--> statement-breakpoint
CREATE VIEW "metrics"."citation_share" AS (
    select
      counted.brand_id,
      counted.date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      bool_or(cited.owned) as is_owned,
      count(distinct cited.answer_id)::int as citations,
      count(distinct cited.answer_id) filter (where cited.owned)::int as owned_citations
    from public.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, counted.date, cited.url
  );--> statement-breakpoint
CREATE VIEW "metrics"."citations" AS (
    select
      counted.brand_id,
      (cited.recorded_at at time zone 'UTC')::date as date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      bool_or(cited.owned) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from public.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, (cited.recorded_at at time zone 'UTC')::date, cited.url
  );--> statement-breakpoint
CREATE VIEW "metrics"."competitors" AS (
    select
      counted.brand_id,
      counted.date,
      competitor.name collate "C" as competitor_name,
      count(*)::int as total_responses,
      count(*) filter (where mentioned.names && competitor.names)::int as competitor_visible_responses,
      round(100.0 * count(*) filter (where mentioned.names && competitor.names) / count(*), 4)
        as competitor_visibility_rate
    from metrics.counted_answers as counted
    join metrics.competitor_names as competitor on competitor.brand_id = counted.brand_id
    cross join lateral (
      select array_agg(metrics.fold(answer_mentions.name)) as names
      from public.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned
    group by counted.brand_id, counted.date, competitor.name
  );--> statement-breakpoint
CREATE VIEW "metrics"."recommended_rate" AS (
    select
      counted.brand_id,
      counted.date,
      judged.competitor_id is not null as is_competitor,
      coalesce(competitors.name, brands.name) collate "C" as entity_name,
      judged.competitor_id is null as is_brand,
      round(100.0 * count(*) filter (where judged.recommended) / count(*), 4) as recommended_rate,
      count(*)::int as judged_answers
    from public.recommendations as judged
    join metrics.counted_answers as counted on counted.answer_id = judged.answer_id
    join public.brands on brands.id = counted.brand_id
    left join public.competitors
      on competitors.id = judged.competitor_id
      and competitors.brand_id = counted.brand_id
    where counted.date >= date '2026-09-22'
      and (judged.competitor_id is null or competitors.id is not null)
    group by counted.brand_id, counted.date, judged.competitor_id, competitors.name, brands.name
  );--> statement-breakpoint
CREATE VIEW "metrics"."sentiment" AS (
    select
      daily.brand_id,
      daily.date,
      daily.positive_mentions,
      daily.neutral_mentions,
      daily.negative_mentions,
      round(daily.positive, 4) as positive_weight,
      round(daily.negative, 4) as negative_weight,
      round(100 * daily.positive / nullif(daily.positive + daily.negative, 0), 4) as sentiment_score
    from (
      select
        counted.brand_id,
        counted.date,
        count(*) filter (where phrase.polarity = 'positive')::int as positive_mentions,
        count(*) filter (where phrase.polarity = 'neutral')::int as neutral_mentions,
        count(*) filter (where phrase.polarity = 'negative')::int as negative_mentions,
        coalesce(sum(phrase.confidence) filter (where phrase.polarity = 'positive'), 0) as positive,
        coalesce(sum(phrase.confidence) filter (where phrase.polarity = 'negative'), 0) as negative
      from public.sentiment_phrases as phrase
      join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id
      group by counted.brand_id, counted.date
    ) as daily
  );--> statement-breakpoint
CREATE VIEW "metrics"."visibility" AS (
    select
      counted.brand_id,
      counted.date,
      counted.model_id collate "C" as model_id,
      models.provider collate "C" as provider,
      counted.market_id,
      markets.name collate "C" as market,
      count(*)::int as total_prompts,
      count(*) filter (where mentioned.names && brand.names)::int as visible_count,
      round(100.0 * count(*) filter (where mentioned.names && brand.names) / count(*), 4) as visibility_rate
    from metrics.counted_answers as counted
    join metrics.brand_names as brand on brand.brand_id = counted.brand_id
    join public.models on models.id = counted.model_id
    join public.markets on markets.id = counted.market_id
    cross join lateral (
      select array_agg(metrics.fold(answer_mentions.name)) as names
      from public.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned
    group by counted.brand_id, counted.date, counted.model_id, models.provider, counted.market_id, markets.name
  );