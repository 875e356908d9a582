DROP VIEW "metrics"."brand_listing";--> statement-breakpoint
DROP VIEW "metrics"."recommended_rate";--> statement-breakpoint
UPDATE "brands" SET "created_at" = least(greatest("created_at", '0001-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z') WHERE "created_at" < '0001-01-01T00:00:00Z' OR "created_at" >= '10000-01-01T00:00:00Z';--> statement-breakpoint
ALTER TABLE "brands" ADD CONSTRAINT "brands_created_at" CHECK ("brands"."created_at" >= '0001-01-01T00:00:00Z' and "brands"."created_at" < '10000-01-01T00:00:00Z');--> statement-breakpoint
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
      to_char(
        least(greatest(created_at, '0001-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z') at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "createdAt"
    from export_source.brands
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
    from export_source.recommendations as judged
    join metrics.counted_answers as counted on counted.answer_id = judged.answer_id
    join export_source.brands on brands.id = counted.brand_id
    left join export_source.competitors
      on competitors.id = judged.competitor_id
      and competitors.brand_id = counted.brand_id
      and competitors.active
    where counted.date >= date '2026-09-22'
      and (judged.competitor_id is null or competitors.id is not null)
    group by counted.brand_id, counted.date, judged.competitor_id, competitors.name, brands.name
  );--> statement-breakpoint
INSERT INTO "daily"."refresh_queue" ("metric") VALUES ('recommended_rate');
