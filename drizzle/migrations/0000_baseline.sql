-- Generated from Drizzle's schema by `npx drizzle-kit generate --name baseline`, with one edit: metrics may exist,
-- because drizzle/sql/fold.sql is applied first.
CREATE SCHEMA "export_source";
--> statement-breakpoint
CREATE SCHEMA "daily";
--> statement-breakpoint
CREATE SCHEMA IF NOT EXISTS "metrics";
--> statement-breakpoint
CREATE TABLE "answer_mentions" (
	"answer_id" uuid NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "answer_mentions_answer_id_name_pk" PRIMARY KEY("answer_id","name")
);
--> statement-breakpoint
CREATE TABLE "answers" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"prompt_id" uuid NOT NULL,
	"model_id" text NOT NULL,
	"market_id" uuid NOT NULL,
	"answered_at" timestamp with time zone NOT NULL,
	"error" text,
	CONSTRAINT "answers_answered_at" CHECK ("answers"."answered_at" >= '0001-01-01T00:00:00Z' and "answers"."answered_at" < '10000-01-01T00:00:00Z')
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"organization_id" uuid NOT NULL,
	"created_by" uuid NOT NULL,
	"scope" text NOT NULL,
	"label" text NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"last_four" text NOT NULL,
	"brand_ids" uuid[],
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_keys_key_hash_unique" UNIQUE("key_hash"),
	CONSTRAINT "api_keys_scope" CHECK ("api_keys"."scope" in ('export', 'tools')),
	CONSTRAINT "api_keys_key_hash" CHECK (octet_length("api_keys"."key_hash") = 32)
);
--> statement-breakpoint
CREATE TABLE "brands" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"display_name" text NOT NULL,
	"url" text NOT NULL,
	"site_url" text NOT NULL,
	"industry" text,
	"aliases" text[] DEFAULT '{}' NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "brands_name" CHECK (octet_length("brands"."name") <= 2000),
	CONSTRAINT "brands_created_at" CHECK ("brands"."created_at" >= '0001-01-01T00:00:00Z' and "brands"."created_at" < '10000-01-01T00:00:00Z'),
	CONSTRAINT "brands_aliases" CHECK (coalesce(array_ndims("brands"."aliases"), 1) = 1)
);
--> statement-breakpoint
CREATE TABLE "citations" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"answer_id" uuid NOT NULL,
	"url" text NOT NULL,
	"domain" text,
	"owned" boolean NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL,
	CONSTRAINT "citations_recorded_at" CHECK ("citations"."recorded_at" >= '0001-01-01T00:00:00Z' and "citations"."recorded_at" < '10000-01-01T00:00:00Z')
);
--> statement-breakpoint
CREATE TABLE "competitors" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"brand_id" uuid NOT NULL,
	"name" text NOT NULL,
	"aliases" text[] DEFAULT '{}' NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "competitors_brand_id_name_unique" UNIQUE("brand_id","name"),
	CONSTRAINT "competitors_name" CHECK (octet_length("competitors"."name") <= 2000),
	CONSTRAINT "competitors_aliases" CHECK (coalesce(array_ndims("competitors"."aliases"), 1) = 1)
);
--> statement-breakpoint
CREATE TABLE "markets" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"organization_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memberships_organization_id_user_id_pk" PRIMARY KEY("organization_id","user_id"),
	CONSTRAINT "memberships_role" CHECK ("memberships"."role" in ('owner', 'admin', 'member'))
);
--> statement-breakpoint
CREATE TABLE "models" (
	"id" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	CONSTRAINT "models_id" CHECK (octet_length("models"."id") <= 2000)
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "prompts" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"brand_id" uuid NOT NULL,
	"text" text NOT NULL,
	"branded" boolean DEFAULT false NOT NULL,
	"counts_in_metrics" boolean DEFAULT true NOT NULL,
	"retired_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recommendations" (
	"answer_id" uuid NOT NULL,
	"competitor_id" uuid,
	"recommended" boolean NOT NULL,
	CONSTRAINT "recommendations_answer_id_competitor_id_unique" UNIQUE NULLS NOT DISTINCT("answer_id","competitor_id")
);
--> statement-breakpoint
CREATE TABLE "sentiment_phrases" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"answer_id" uuid NOT NULL,
	"polarity" text NOT NULL,
	"confidence" numeric(5, 4) NOT NULL,
	CONSTRAINT "sentiment_phrases_polarity" CHECK ("sentiment_phrases"."polarity" in ('positive', 'neutral', 'negative')),
	CONSTRAINT "sentiment_phrases_confidence" CHECK ("sentiment_phrases"."confidence" between 0 and 1)
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"organization_id" uuid PRIMARY KEY NOT NULL,
	"plan" text NOT NULL,
	"status" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subscriptions_plan" CHECK ("subscriptions"."plan" in ('lite', 'pro', 'agency', 'enterprise')),
	CONSTRAINT "subscriptions_status" CHECK ("subscriptions"."status" in ('active', 'past_due', 'canceled'))
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"email" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "daily"."applied_sql" (
	"name" text PRIMARY KEY NOT NULL,
	"sha256" text NOT NULL,
	"schema" text NOT NULL,
	"applied_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."brand_log" (
	"source" text NOT NULL,
	"brand_id" uuid
);
--> statement-breakpoint
CREATE TABLE "daily"."change_log" (
	"source" text NOT NULL,
	"brand_id" uuid,
	"prompt_id" uuid,
	"answer_id" uuid,
	"model_id" text,
	"market_id" uuid,
	"day" date
);
--> statement-breakpoint
CREATE TABLE "daily"."changes_clock" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"last" timestamp with time zone NOT NULL,
	CONSTRAINT "changes_clock_single" CHECK ("daily"."changes_clock"."single")
);
--> statement-breakpoint
CREATE TABLE "daily"."citation_days" (
	"brand_id" uuid NOT NULL,
	"recorded" date NOT NULL,
	"answered" date NOT NULL,
	CONSTRAINT "citation_days_brand_id_recorded_answered_pk" PRIMARY KEY("brand_id","recorded","answered")
);
--> statement-breakpoint
CREATE TABLE "daily"."changes" (
	"brand_id" uuid NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"date" date NOT NULL,
	"rows" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"totals" json NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"causes" json NOT NULL,
	"changed_at" text COLLATE "C" NOT NULL,
	"first_changed_at" text COLLATE "C" NOT NULL,
	"batch" bigint NOT NULL,
	CONSTRAINT "changes_endpoint_date_brand_id_pk" PRIMARY KEY("endpoint","date","brand_id")
);
--> statement-breakpoint
CREATE TABLE "daily"."key_log" (
	"key_id" uuid NOT NULL,
	"event" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"organization_id" uuid NOT NULL,
	"user_id" uuid,
	"successor_id" uuid,
	CONSTRAINT "key_log_successor_id_unique" UNIQUE("successor_id"),
	CONSTRAINT "key_log_event" CHECK ("daily"."key_log"."event" in ('created', 'rotated', 'revoked')),
	CONSTRAINT "key_log_successor" CHECK (("daily"."key_log"."event" = 'rotated') = ("daily"."key_log"."successor_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "daily"."progress" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"as_of" timestamp with time zone DEFAULT '-infinity' NOT NULL,
	"batch" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "progress_single" CHECK ("daily"."progress"."single")
);
--> statement-breakpoint
CREATE TABLE "daily"."queued_brands" (
	"brand_id" uuid PRIMARY KEY NOT NULL,
	"as_of" timestamp with time zone NOT NULL,
	"returned" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."queued_causes" (
	"brand_id" uuid NOT NULL,
	"metric" text NOT NULL,
	"date" date NOT NULL,
	"cause" text NOT NULL,
	"batch" bigint NOT NULL,
	CONSTRAINT "queued_causes_brand_id_metric_date_batch_cause_pk" PRIMARY KEY("brand_id","metric","date","batch","cause")
);
--> statement-breakpoint
CREATE TABLE "daily"."readable_brands" (
	"brand_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."refresh_queue" (
	"brand_id" uuid NOT NULL,
	"metric" text NOT NULL,
	"date" date NOT NULL,
	"as_of" timestamp with time zone NOT NULL,
	"batch" bigint NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp with time zone,
	"last_error" text,
	"alone" boolean DEFAULT false NOT NULL,
	CONSTRAINT "refresh_queue_brand_id_metric_date_pk" PRIMARY KEY("brand_id","metric","date")
);
--> statement-breakpoint
CREATE TABLE "daily"."rolling_window" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"days" integer NOT NULL,
	"first_day" date DEFAULT '-infinity' NOT NULL,
	"started_at" timestamp with time zone DEFAULT '-infinity' NOT NULL,
	CONSTRAINT "rolling_window_single" CHECK ("daily"."rolling_window"."single"),
	CONSTRAINT "rolling_window_days" CHECK ("daily"."rolling_window"."days" between 1 and 36500)
);
--> statement-breakpoint
CREATE TABLE "daily"."row_schemas" (
	"metric" text PRIMARY KEY NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"fields" text[] NOT NULL,
	"totals" text NOT NULL,
	"staged_fields" text[] NOT NULL,
	"staged_totals" text NOT NULL,
	"listed" boolean DEFAULT true NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."objects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"metric" text COLLATE "C" NOT NULL,
	"brand_id" uuid NOT NULL,
	"period" text NOT NULL,
	"first" date NOT NULL,
	"last" date NOT NULL,
	"digest" text,
	"rows" integer,
	"bytes" integer,
	"added" integer,
	"removed" integer,
	"dropped_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "daily"."published_brands" (
	"brand_id" uuid PRIMARY KEY NOT NULL,
	"since" text COLLATE "C",
	"periods_due_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."publisher" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"lease" integer DEFAULT 0 NOT NULL,
	"held_until" timestamp with time zone DEFAULT '-infinity' NOT NULL,
	"holder" text DEFAULT '' NOT NULL,
	"version" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."versions" (
	"version" integer PRIMARY KEY NOT NULL,
	"committed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily"."citation_share" (
	"brand_id" uuid NOT NULL,
	"date" date NOT NULL,
	"url_hash" uuid NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"domain" text COLLATE "C",
	"is_owned" boolean NOT NULL,
	"citations" integer NOT NULL,
	"owned_citations" integer NOT NULL,
	CONSTRAINT "citation_share_brand_id_date_url_hash_pk" PRIMARY KEY("brand_id","date","url_hash"),
	CONSTRAINT "citation_share_has_urls_of_at_most_8192_bytes" CHECK (octet_length("daily"."citation_share"."url") <= 8192)
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
	CONSTRAINT "citations_brand_id_date_url_hash_pk" PRIMARY KEY("brand_id","date","url_hash"),
	CONSTRAINT "citations_has_urls_of_at_most_8192_bytes" CHECK (octet_length("daily"."citations"."url") <= 8192)
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
	CONSTRAINT "sentiment_brand_id_date_pk" PRIMARY KEY("brand_id","date"),
	CONSTRAINT "sentiment_has_known_polarities_and_confidences_from_0_to_1" CHECK ("daily"."sentiment"."positive_weight" <> 'NaN')
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
ALTER TABLE "answer_mentions" ADD CONSTRAINT "answer_mentions_answer_id_answers_id_fk" FOREIGN KEY ("answer_id") REFERENCES "public"."answers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "answers" ADD CONSTRAINT "answers_prompt_id_prompts_id_fk" FOREIGN KEY ("prompt_id") REFERENCES "public"."prompts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "answers" ADD CONSTRAINT "answers_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "answers" ADD CONSTRAINT "answers_market_id_markets_id_fk" FOREIGN KEY ("market_id") REFERENCES "public"."markets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "brands" ADD CONSTRAINT "brands_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "citations" ADD CONSTRAINT "citations_answer_id_answers_id_fk" FOREIGN KEY ("answer_id") REFERENCES "public"."answers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "competitors" ADD CONSTRAINT "competitors_brand_id_brands_id_fk" FOREIGN KEY ("brand_id") REFERENCES "public"."brands"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prompts" ADD CONSTRAINT "prompts_brand_id_brands_id_fk" FOREIGN KEY ("brand_id") REFERENCES "public"."brands"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recommendations" ADD CONSTRAINT "recommendations_answer_id_answers_id_fk" FOREIGN KEY ("answer_id") REFERENCES "public"."answers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recommendations" ADD CONSTRAINT "recommendations_competitor_id_competitors_id_fk" FOREIGN KEY ("competitor_id") REFERENCES "public"."competitors"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sentiment_phrases" ADD CONSTRAINT "sentiment_phrases_answer_id_answers_id_fk" FOREIGN KEY ("answer_id") REFERENCES "public"."answers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "answers_prompt_id_day_index" ON "answers" USING btree ("prompt_id",(("answered_at" at time zone 'UTC')::date));--> statement-breakpoint
CREATE INDEX "api_keys_organization_id_index" ON "api_keys" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "brands_order_index" ON "brands" USING btree ("organization_id","name" collate "C","id");--> statement-breakpoint
CREATE INDEX "citations_answer_id_index" ON "citations" USING btree ("answer_id");--> statement-breakpoint
CREATE INDEX "citations_day_index" ON "citations" USING btree ((("recorded_at" at time zone 'UTC')::date),"answer_id");--> statement-breakpoint
CREATE INDEX "prompts_brand_id_index" ON "prompts" USING btree ("brand_id");--> statement-breakpoint
CREATE INDEX "recommendations_competitor_id_index" ON "recommendations" USING btree ("competitor_id");--> statement-breakpoint
CREATE INDEX "sentiment_phrases_answer_id_index" ON "sentiment_phrases" USING btree ("answer_id");--> statement-breakpoint
CREATE UNIQUE INDEX "changes_order_index" ON "daily"."changes" USING btree ("brand_id","changed_at","endpoint","date");--> statement-breakpoint
CREATE INDEX "objects_staged_index" ON "daily"."objects" USING btree ("brand_id") WHERE added is null and dropped_at is null;--> statement-breakpoint
CREATE INDEX "objects_current_index" ON "daily"."objects" USING btree ("metric","brand_id","first") WHERE added is not null and removed is null;--> statement-breakpoint
CREATE INDEX "objects_former_index" ON "daily"."objects" USING btree ("metric","brand_id","removed","added") WHERE removed is not null;--> statement-breakpoint
CREATE INDEX "objects_added_index" ON "daily"."objects" USING btree ("metric","brand_id","added");--> statement-breakpoint
CREATE INDEX "objects_removed_index" ON "daily"."objects" USING btree ("removed") WHERE removed is not null;--> statement-breakpoint
CREATE INDEX "objects_dropped_index" ON "daily"."objects" USING btree ("dropped_at") WHERE dropped_at is not null;--> statement-breakpoint
CREATE VIEW "export_source"."answer_mentions" AS (select "answer_id", "name" from "answer_mentions");--> statement-breakpoint
CREATE VIEW "export_source"."answers" AS (select "id", "prompt_id", "model_id", "market_id", "answered_at", "error" from "answers");--> statement-breakpoint
CREATE VIEW "export_source"."api_keys" AS (select "id", "organization_id", "created_by", "scope", "label", "key_hash", "last_four", "brand_ids", "expires_at", "revoked_at", "created_at" from "api_keys");--> statement-breakpoint
CREATE VIEW "export_source"."brands" AS (select "id", "organization_id", "name", "display_name", "url", "site_url", "industry", "aliases", "active", "created_at" from "brands");--> statement-breakpoint
CREATE VIEW "export_source"."citations" AS (select "answer_id", "url", "domain", "owned", "recorded_at" from "citations");--> statement-breakpoint
CREATE VIEW "export_source"."competitors" AS (select "id", "brand_id", "name", "aliases", "active" from "competitors");--> statement-breakpoint
CREATE VIEW "export_source"."markets" AS (select "id", "name" from "markets");--> statement-breakpoint
CREATE VIEW "export_source"."memberships" AS (select "organization_id", "user_id", "role" from "memberships");--> statement-breakpoint
CREATE VIEW "export_source"."models" AS (select "id", "provider" from "models");--> statement-breakpoint
CREATE VIEW "export_source"."prompts" AS (select "id", "brand_id", "counts_in_metrics", "retired_at" from "prompts");--> statement-breakpoint
CREATE VIEW "export_source"."recommendations" AS (select "answer_id", "competitor_id", "recommended" from "recommendations");--> statement-breakpoint
CREATE VIEW "export_source"."sentiment_phrases" AS (select "answer_id", "polarity", "confidence" from "sentiment_phrases");--> statement-breakpoint
CREATE VIEW "export_source"."subscriptions" AS (select "organization_id", "plan", "status" from "subscriptions");--> statement-breakpoint
CREATE VIEW "metrics"."counted_answers" AS (
    select
      answers.id as answer_id,
      prompts.brand_id,
      (answers.answered_at at time zone 'UTC')::date as date,
      answers.model_id,
      answers.market_id
    from export_source.answers
    join export_source.prompts on prompts.id = answers.prompt_id
    where answers.id is not null
      and answers.answered_at is not null
      and answers.error is null
      and prompts.retired_at is null
      and prompts.counts_in_metrics
  );--> statement-breakpoint
CREATE VIEW "metrics"."brand_names" AS (
    select brands.id as brand_id, folded.names
    from export_source.brands
    cross join lateral (
      select array_agg(metrics.fold(known.name)) as names
      from unnest(array[brands.name, brands.display_name] || array(select unnest(brands.aliases))) as known(name)
    ) as folded
  );--> statement-breakpoint
CREATE VIEW "metrics"."competitor_names" AS (
    select competitors.id as competitor_id, competitors.brand_id, competitors.name, folded.names
    from export_source.competitors
    cross join lateral (
      select array_agg(metrics.fold(known.name)) as names
      from unnest(array[competitors.name] || array(select unnest(competitors.aliases))) as known(name)
    ) as folded
    where competitors.active
  );--> statement-breakpoint
CREATE VIEW "metrics"."brands" AS (
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
CREATE VIEW "metrics"."citation_share" AS (
    select
      counted.brand_id,
      counted.date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      coalesce(bool_or(cited.owned), false) as is_owned,
      count(distinct cited.answer_id)::int as citations,
      count(distinct cited.answer_id) filter (where cited.owned)::int as owned_citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, counted.date, cited.url
  );--> statement-breakpoint
CREATE VIEW "metrics"."citations" AS (
    select
      counted.brand_id as brand_id,
      (cited.recorded_at at time zone 'UTC')::date as date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      coalesce(bool_or(cited.owned), false) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, (cited.recorded_at at time zone 'UTC')::date, cited.url
  );--> statement-breakpoint
CREATE VIEW "metrics"."citations_bounded" AS (
    select
      days.brand_id as brand_id,
      days.recorded as date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      coalesce(bool_or(cited.owned), false) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from daily.citation_days as days
    join metrics.counted_answers as counted on counted.brand_id = days.brand_id and counted.date = days.answered
    join export_source.citations as cited on cited.answer_id = counted.answer_id and (cited.recorded_at at time zone 'UTC')::date = days.recorded
    group by days.brand_id, days.recorded, cited.url
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
      from export_source.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned
    group by counted.brand_id, counted.date, competitor.competitor_id, competitor.name
  );--> statement-breakpoint
CREATE VIEW "metrics"."recommended_rate" AS (
    select
      counted.brand_id,
      counted.date,
      judged.competitor_id is not null as is_competitor,
      coalesce(competitors.name, brands.name) collate "C" as entity_name,
      judged.competitor_id is null as is_brand,
      round(
        100.0 * count(distinct judged.answer_id) filter (where judged.recommended) / count(distinct judged.answer_id), 4
      ) as recommended_rate,
      count(distinct judged.answer_id)::int as judged_answers
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
        case
          when bool_and(coalesce(phrase.polarity in ('positive', 'neutral', 'negative') and phrase.confidence between 0 and 1, false))
          then coalesce(sum(phrase.confidence) filter (where phrase.polarity = 'positive'), 0)
          else 'NaN'
        end as positive,
        case
          when bool_and(coalesce(phrase.polarity in ('positive', 'neutral', 'negative') and phrase.confidence between 0 and 1, false))
          then coalesce(sum(phrase.confidence) filter (where phrase.polarity = 'negative'), 0)
          else 'NaN'
        end as negative
      from export_source.sentiment_phrases as phrase
      join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id
      group by counted.brand_id, counted.date
    ) as daily
  );--> statement-breakpoint
CREATE VIEW "metrics"."visibility" AS (
    select
      counted.brand_id,
      counted.date,
      counted.model_id,
      coalesce((select provider from export_source.models where models.id = counted.model_id), '') collate "C" as provider,
      counted.market_id,
      coalesce((select name from export_source.markets where markets.id = counted.market_id), '') collate "C" as market,
      counted.total_prompts,
      counted.visible_count,
      round(100.0 * counted.visible_count / counted.total_prompts, 4) as visibility_rate
    from (
      select
        counted.brand_id,
        counted.date,
        coalesce(counted.model_id, '') collate "C" as model_id,
        coalesce(counted.market_id, '00000000-0000-0000-0000-000000000000') as market_id,
        count(*)::int as total_prompts,
        count(*) filter (where mentioned.names && brand.names)::int as visible_count
      from metrics.counted_answers as counted
      join metrics.brand_names as brand on brand.brand_id = counted.brand_id
      cross join lateral (
      select array_agg(metrics.fold(answer_mentions.name)) as names
      from export_source.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned
      group by 1, 2, 3, 4
    ) as counted
  );