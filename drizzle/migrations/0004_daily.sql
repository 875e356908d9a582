CREATE TABLE "daily"."citation_share" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"url_hash" uuid NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"domain" text COLLATE "C",
	"is_owned" boolean NOT NULL,
	"citations" integer NOT NULL,
	"owned_citations" integer NOT NULL,
	CONSTRAINT "citation_share_brand_id_date_url_key_pk" PRIMARY KEY("brand_id","date","url_hash")
);
--> statement-breakpoint
CREATE TABLE "daily"."citations" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"url_hash" uuid NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"domain" text COLLATE "C",
	"is_owned" boolean NOT NULL,
	"citations" integer NOT NULL,
	CONSTRAINT "citations_brand_id_date_url_key_pk" PRIMARY KEY("brand_id","date","url_hash")
);
--> statement-breakpoint
CREATE TABLE "daily"."competitors" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"competitor_name" text COLLATE "C" NOT NULL,
	"total_responses" integer NOT NULL,
	"competitor_visible_responses" integer NOT NULL,
	"competitor_visibility_rate" numeric(7, 4) NOT NULL,
	CONSTRAINT "competitors_brand_id_date_competitor_name_pk" PRIMARY KEY("brand_id","date","competitor_name")
);
--> statement-breakpoint
CREATE TABLE "daily"."recommended_rate" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"is_competitor" boolean NOT NULL,
	"entity_name" text COLLATE "C" NOT NULL,
	"is_brand" boolean NOT NULL,
	"recommended_rate" numeric(7, 4) NOT NULL,
	"judged_answers" integer NOT NULL,
	CONSTRAINT "recommended_rate_brand_id_date_is_competitor_entity_name_pk" PRIMARY KEY("brand_id","date","is_competitor","entity_name")
);
--> statement-breakpoint
CREATE TABLE "daily"."sentiment" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"positive_mentions" integer NOT NULL,
	"neutral_mentions" integer NOT NULL,
	"negative_mentions" integer NOT NULL,
	"positive_weight" numeric(18, 4) NOT NULL,
	"negative_weight" numeric(18, 4) NOT NULL,
	"sentiment_score" numeric(7, 4),
	CONSTRAINT "sentiment_brand_id_date_pk" PRIMARY KEY("brand_id","date")
);
--> statement-breakpoint
CREATE TABLE "daily"."sources" (
	"source" text NOT NULL,
	"metric" text NOT NULL,
	"dated_by" text NOT NULL,
	CONSTRAINT "sources_source_metric_pk" PRIMARY KEY("source","metric")
);
--> statement-breakpoint
CREATE TABLE "daily"."refresh_queue" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "daily"."refresh_queue_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"metric" text NOT NULL,
	"brand_id" uuid,
	"date" date,
	"prompt_id" uuid,
	"model_id" text,
	"market_id" uuid
);
--> statement-breakpoint
CREATE TABLE "daily"."visibility" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"model_id" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"market_id" uuid NOT NULL,
	"market" text COLLATE "C" NOT NULL,
	"total_prompts" integer NOT NULL,
	"visible_count" integer NOT NULL,
	"visibility_rate" numeric(7, 4) NOT NULL,
	CONSTRAINT "visibility_brand_id_date_model_id_market_id_pk" PRIMARY KEY("brand_id","date","model_id","market_id")
);
--> statement-breakpoint
CREATE INDEX "refresh_queue_refresh_index" ON "daily"."refresh_queue" USING btree ("date","metric","brand_id");--> statement-breakpoint
CREATE INDEX "refresh_queue_settled_index" ON "daily"."refresh_queue" USING btree ("metric","brand_id","date");--> statement-breakpoint
CREATE INDEX "refresh_queue_wide_index" ON "daily"."refresh_queue" USING btree ("id") WHERE "daily"."refresh_queue"."date" is null or "daily"."refresh_queue"."brand_id" is null;