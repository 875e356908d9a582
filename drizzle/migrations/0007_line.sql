-- A value as JSON text. Immutable in truth for the types of the daily tables: JSON has one form for a date, whatever
-- DateStyle says, and numbers are passed on digit by digit.
CREATE FUNCTION daily.json(value anyelement) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $json$
BEGIN
  RETURN coalesce(pg_catalog.to_json(value)::text, 'null');
END
$json$;
--> statement-breakpoint
-- The last day through which no stored row of a brand waits to be computed anew, at most `last`; null when any day may.
-- The days before `first` do not matter. A plan that reads all notes must never be kept: there can be many. A search_path
-- of its own would cost more than the three reads; every name has its schema.
CREATE FUNCTION daily.watermark(of_metric text, of_brand uuid, first date, last date) RETURNS date
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan = off AS $settled$
BEGIN
  IF EXISTS (
    SELECT FROM daily.refresh_queue
    WHERE metric = of_metric AND date IS NULL AND (brand_id = of_brand OR brand_id IS NULL)
  ) THEN
    RETURN NULL;
  END IF;
  RETURN least(
    last,
    (SELECT min(date) - 1 FROM daily.refresh_queue WHERE metric = of_metric AND brand_id = of_brand AND date >= first),
    (SELECT min(date) - 1 FROM daily.refresh_queue WHERE metric = of_metric AND brand_id IS NULL AND date >= first));
END
$settled$;
--> statement-breakpoint
ALTER TABLE "daily"."citation_share" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"url":' || daily.json("url") || ',"domain":' || daily.json("domain") || ',"is_owned":' || daily.json("is_owned") || ',"citations":' || daily.json("citations") || ',"owned_citations":' || daily.json("owned_citations") || '}') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."citations" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"url":' || daily.json("url") || ',"domain":' || daily.json("domain") || ',"is_owned":' || daily.json("is_owned") || ',"citations":' || daily.json("citations") || '}') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."competitors" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"competitor_name":' || daily.json("competitor_name") || ',"total_responses":' || daily.json("total_responses") || ',"competitor_visible_responses":' || daily.json("competitor_visible_responses") || ',"competitor_visibility_rate":' || daily.json("competitor_visibility_rate") || '}') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."recommended_rate" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"entity_name":' || daily.json("entity_name") || ',"is_brand":' || daily.json("is_brand") || ',"recommended_rate":' || daily.json("recommended_rate") || ',"judged_answers":' || daily.json("judged_answers") || '}') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."sentiment" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"positive_mentions":' || daily.json("positive_mentions") || ',"neutral_mentions":' || daily.json("neutral_mentions") || ',"negative_mentions":' || daily.json("negative_mentions") || ',"positive_weight":' || daily.json("positive_weight") || ',"negative_weight":' || daily.json("negative_weight") || ',"sentiment_score":' || daily.json("sentiment_score") || '}') STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."visibility" ADD COLUMN "line" text GENERATED ALWAYS AS ('{"date":' || daily.json("date") || ',"model_id":' || daily.json("model_id") || ',"provider":' || daily.json("provider") || ',"market_id":' || daily.json("market_id") || ',"market":' || daily.json("market") || ',"total_prompts":' || daily.json("total_prompts") || ',"visible_count":' || daily.json("visible_count") || ',"visibility_rate":' || daily.json("visibility_rate") || '}') STORED NOT NULL;