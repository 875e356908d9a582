DROP INDEX "daily"."refresh_queue_refresh_index";--> statement-breakpoint
DROP INDEX "daily"."refresh_queue_watermark_index";--> statement-breakpoint
DROP INDEX "daily"."refresh_queue_expand_index";--> statement-breakpoint
ALTER TABLE "daily"."refresh_queue" ADD COLUMN "added_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."refresh_queue" ADD COLUMN "failed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "refresh_queue_brand_index" ON "daily"."refresh_queue" USING btree ("brand_id","metric","date");--> statement-breakpoint
CREATE INDEX "refresh_queue_age_index" ON "daily"."refresh_queue" USING btree ("added_at");--> statement-breakpoint
ALTER TABLE "daily"."refresh_queue" DROP COLUMN "id";--> statement-breakpoint
ALTER TABLE "daily"."rolling_window" DROP COLUMN "last_entry";