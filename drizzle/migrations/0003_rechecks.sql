CREATE TABLE "daily"."rechecks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "daily"."rechecks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"metric" text NOT NULL,
	"brand_id" uuid,
	"prompt_id" uuid,
	"answer_id" uuid,
	"model_id" text,
	"market_id" uuid,
	"date" date,
	"until" "xid8"
);
--> statement-breakpoint
ALTER TABLE "daily"."deleted_answers" DROP CONSTRAINT "deleted_answers_answer_id_date_pk";--> statement-breakpoint
ALTER TABLE "daily"."deleted_answers" ADD CONSTRAINT "deleted_answers_answer_id_date_transaction_id_pk" PRIMARY KEY("answer_id","date","transaction_id");--> statement-breakpoint
CREATE INDEX "rechecks_brand_index" ON "daily"."rechecks" USING btree ("brand_id","metric","date");--> statement-breakpoint
UPDATE "brands" SET "aliases" = array(select unnest("aliases")) WHERE array_ndims("aliases") > 1;--> statement-breakpoint
UPDATE "competitors" SET "aliases" = array(select unnest("aliases")) WHERE array_ndims("aliases") > 1;--> statement-breakpoint
ALTER TABLE "brands" ADD CONSTRAINT "brands_aliases" CHECK (coalesce(array_ndims("brands"."aliases"), 1) = 1);--> statement-breakpoint
ALTER TABLE "competitors" ADD CONSTRAINT "competitors_aliases" CHECK (coalesce(array_ndims("competitors"."aliases"), 1) = 1);--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."brand_names" AS (
    select brands.id as brand_id, array_agg(metrics.fold(known.name)) as names
    from export_source.brands
    cross join unnest(array[brands.name, brands.display_name] || array(select unnest(brands.aliases))) as known(name)
    group by brands.id
  );--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."competitor_names" AS (
    select
      competitors.id as competitor_id,
      competitors.brand_id,
      competitors.name,
      array_agg(metrics.fold(known.name)) as names
    from export_source.competitors
    cross join unnest(array[competitors.name] || array(select unnest(competitors.aliases))) as known(name)
    where competitors.active
    group by competitors.id, competitors.brand_id, competitors.name
  );