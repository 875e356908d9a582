CREATE TABLE "daily"."changes_clock" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"last" timestamp with time zone NOT NULL,
	CONSTRAINT "changes_clock_single" CHECK ("daily"."changes_clock"."single")
);
--> statement-breakpoint
CREATE TABLE "daily"."changes" (
	"brand_id" uuid NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"rows" integer NOT NULL,
	"totals" json NOT NULL,
	"changed_at" text COLLATE "C" NOT NULL,
	CONSTRAINT "changes_endpoint_date_brand_id_pk" PRIMARY KEY("endpoint","date","brand_id")
);
--> statement-breakpoint
CREATE TABLE "daily"."row_schemas" (
	"metric" text PRIMARY KEY NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"fields" text[] NOT NULL,
	"totals" text NOT NULL,
	"listed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "changes_listing_index" ON "daily"."changes" USING btree ("brand_id","changed_at","endpoint","date");