ALTER TABLE "daily"."refresh_queue" ADD COLUMN "added_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "daily"."refresh_queue" ADD COLUMN "failed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "refresh_queue_age_index" ON "daily"."refresh_queue" USING btree ("added_at");