-- The seam: whatever is read of the application is read through these views, which an application with tables of other
-- names replaces by its own.
CREATE SCHEMA "export_source";
--> statement-breakpoint
CREATE TABLE "daily"."rolling_window" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"days" integer NOT NULL,
	"watermark" date DEFAULT '-infinity' NOT NULL,
	"enqueued_at" timestamp with time zone,
	"last_entry" bigint,
	CONSTRAINT "rolling_window_single" CHECK ("daily"."rolling_window"."single"),
	CONSTRAINT "rolling_window_days" CHECK ("daily"."rolling_window"."days" between 1 and 36500)
);
--> statement-breakpoint
CREATE VIEW "export_source"."answer_mentions" AS (select "answer_id", "name" from "answer_mentions");
--> statement-breakpoint
CREATE VIEW "export_source"."answers" AS (select "id", "prompt_id", "model_id", "market_id", "answered_at", "error" from "answers");
--> statement-breakpoint
CREATE VIEW "export_source"."api_keys" AS (select "id", "organization_id", "created_by", "scope", "label", "key_hash", "last_four", "brand_ids", "expires_at", "revoked_at", "created_at" from "api_keys");
--> statement-breakpoint
CREATE VIEW "export_source"."brands" AS (select "id", "organization_id", "name", "display_name", "url", "site_url", "industry", "aliases", "active", "created_at" from "brands");
--> statement-breakpoint
CREATE VIEW "export_source"."citations" AS (select "answer_id", "url", "domain", "owned", "recorded_at" from "citations");
--> statement-breakpoint
CREATE VIEW "export_source"."competitors" AS (select "id", "brand_id", "name", "aliases", "active" from "competitors");
--> statement-breakpoint
CREATE VIEW "export_source"."markets" AS (select "id", "name" from "markets");
--> statement-breakpoint
CREATE VIEW "export_source"."memberships" AS (select "organization_id", "user_id", "role" from "memberships");
--> statement-breakpoint
CREATE VIEW "export_source"."models" AS (select "id", "provider" from "models");
--> statement-breakpoint
CREATE VIEW "export_source"."prompts" AS (select "id", "brand_id", "counts_in_metrics", "retired_at" from "prompts");
--> statement-breakpoint
CREATE VIEW "export_source"."recommendations" AS (select "answer_id", "competitor_id", "recommended" from "recommendations");
--> statement-breakpoint
CREATE VIEW "export_source"."sentiment_phrases" AS (select "answer_id", "polarity", "confidence" from "sentiment_phrases");
--> statement-breakpoint
CREATE VIEW "export_source"."subscriptions" AS (select "organization_id", "plan", "status" from "subscriptions");
--> statement-breakpoint
-- Replaced in place, in the order in which they read each other: dropped, they would lose their grants.
CREATE OR REPLACE VIEW "metrics"."counted_answers" AS (
    select
      answers.id as answer_id,
      prompts.brand_id,
      (answers.answered_at at time zone 'UTC')::date as date,
      answers.model_id,
      answers.market_id
    from export_source.answers
    join export_source.prompts on prompts.id = answers.prompt_id
    where answers.error is null
      and prompts.retired_at is null
      and prompts.counts_in_metrics
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."brand_names" AS (
    select brands.id as brand_id, array_agg(metrics.fold(known.name)) as names
    from export_source.brands
    cross join unnest(array[brands.name, brands.display_name] || brands.aliases) as known(name)
    group by brands.id
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."competitor_names" AS (
    select
      competitors.id as competitor_id,
      competitors.brand_id,
      competitors.name,
      array_agg(metrics.fold(known.name)) as names
    from export_source.competitors
    cross join unnest(array[competitors.name] || competitors.aliases) as known(name)
    where competitors.active
    group by competitors.id, competitors.brand_id, competitors.name
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."brand_listing" AS (
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
    from export_source.brands
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."citation_share" AS (
    select
      counted.brand_id,
      counted.date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      bool_or(cited.owned) as is_owned,
      count(distinct cited.answer_id)::int as citations,
      count(distinct cited.answer_id) filter (where cited.owned)::int as owned_citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, counted.date, cited.url
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."citations" AS (
    select
      counted.brand_id,
      (cited.recorded_at at time zone 'UTC')::date as date,
      encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      bool_or(cited.owned) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, (cited.recorded_at at time zone 'UTC')::date, cited.url
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."competitors" AS (
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
    group by counted.brand_id, counted.date, competitor.name
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."recommended_rate" AS (
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
    where counted.date >= date '2026-09-22'
      and (judged.competitor_id is null or competitors.id is not null)
    group by counted.brand_id, counted.date, judged.competitor_id, competitors.name, brands.name
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."sentiment" AS (
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
      from export_source.sentiment_phrases as phrase
      join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id
      group by counted.brand_id, counted.date
    ) as daily
  );
--> statement-breakpoint
CREATE OR REPLACE VIEW "metrics"."visibility" AS (
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
    join export_source.models on models.id = counted.model_id
    join export_source.markets on markets.id = counted.market_id
    cross join lateral (
      select array_agg(metrics.fold(answer_mentions.name)) as names
      from export_source.answer_mentions
      where answer_mentions.answer_id = counted.answer_id
    ) as mentioned
    group by counted.brand_id, counted.date, counted.model_id, models.provider, counted.market_id, markets.name
  );
--> statement-breakpoint
-- What the triggers and the refresh read, they read through the seam.
DO $$ DECLARE
  each record;
BEGIN
  FOR each IN
    SELECT oid FROM pg_proc
    WHERE pronamespace = 'daily'::regnamespace AND proname IN ('note', 'enqueue_answer_details', 'enqueue_citations')
  LOOP
    EXECUTE replace(pg_get_functiondef(each.oid), 'public.', 'export_source.');
  END LOOP;
END $$;
--> statement-breakpoint
-- A view may leave rows out, soft-deleted ones for instance. An update of the table beneath then takes rows out of the
-- view or puts them in: `old_rows` and `new_rows` do not pair up.
CREATE OR REPLACE FUNCTION daily.enqueue_answers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  prompt_ids uuid[];
  dates date[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (SELECT DISTINCT prompt_id, (answered_at AT TIME ZONE 'UTC')::date AS date FROM new_rows) AS day;
  ELSIF TG_OP = 'DELETE' THEN
    -- The days on which their citations were recorded: see daily.enqueue_recorded_days.
    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (SELECT DISTINCT prompt_id, (answered_at AT TIME ZONE 'UTC')::date AS date FROM old_rows) AS day;
  ELSE
    -- Somebody may be changing mentions or citations of an answer while it moves to another day or prompt, or while it
    -- starts or stops to count, and would note what it leaves. The lock waits for them, and lets the next ones see
    -- where it went.
    PERFORM FROM export_source.answers
    WHERE id IN (
      SELECT id FROM new_rows FULL JOIN old_rows USING (id)
      WHERE (new_rows.answered_at, new_rows.prompt_id, new_rows.error IS NULL)
        IS DISTINCT FROM (old_rows.answered_at, old_rows.prompt_id, old_rows.error IS NULL))
    FOR UPDATE;

    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT moved.prompt_id, (cited.recorded_at AT TIME ZONE 'UTC')::date AS date
      FROM new_rows
      FULL JOIN old_rows USING (id)
      JOIN export_source.citations AS cited ON cited.answer_id = id
      CROSS JOIN LATERAL (VALUES (new_rows.prompt_id), (old_rows.prompt_id)) AS moved(prompt_id)
      WHERE (new_rows.prompt_id, new_rows.error IS NULL) IS DISTINCT FROM (old_rows.prompt_id, old_rows.error IS NULL)
    ) AS day;
    PERFORM daily.enqueue('answers', 'recorded_at', prompt_ids, dates);

    -- An answer that is not to be seen any more cannot be locked: a citation that somebody adds to it meanwhile is
    -- found on no day but that of the note. Every day of its brand's recordings is computed anew.
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, prompts.brand_id
    FROM old_rows
    LEFT JOIN new_rows USING (id)
    JOIN export_source.prompts ON prompts.id = old_rows.prompt_id
    JOIN daily.sources ON sources.source = 'answers' AND sources.dated_by = 'recorded_at'
    WHERE new_rows.prompt_id IS NULL;

    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT prompt_id, (answered_at AT TIME ZONE 'UTC')::date AS date
      FROM (
        (SELECT * FROM old_rows EXCEPT SELECT * FROM new_rows) UNION ALL (SELECT * FROM new_rows EXCEPT SELECT * FROM old_rows)
      ) AS changed
    ) AS day;
  END IF;
  PERFORM daily.enqueue('answers', 'answered_at', prompt_ids, dates);
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION daily.enqueue_recorded_days() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  prompt_ids uuid[];
  dates date[];
BEGIN
  SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
  FROM (
    SELECT DISTINCT leaving.prompt_id, (cited.recorded_at AT TIME ZONE 'UTC')::date AS date
    FROM (SELECT OLD.*) AS leaving
    JOIN export_source.citations AS cited ON cited.answer_id = leaving.id
  ) AS day;
  IF dates IS NOT NULL THEN
    PERFORM daily.enqueue('answers', 'recorded_at', prompt_ids, dates);
  END IF;
  RETURN OLD;
END
$note$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION daily.enqueue_prompts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, old_rows.brand_id
    FROM old_rows JOIN daily.sources ON sources.source = 'prompts';
    RETURN NULL;
  END IF;

  PERFORM FROM export_source.prompts
  WHERE id IN (SELECT new_rows.id FROM new_rows JOIN old_rows USING (id) WHERE new_rows.brand_id <> old_rows.brand_id)
  FOR UPDATE;

  INSERT INTO daily.refresh_queue (metric, brand_id)
  SELECT DISTINCT sources.metric, old_rows.brand_id
  FROM old_rows LEFT JOIN new_rows USING (id) JOIN daily.sources ON sources.source = 'prompts'
  WHERE new_rows.brand_id IS DISTINCT FROM old_rows.brand_id;

  INSERT INTO daily.refresh_queue (metric, brand_id, prompt_id)
  SELECT sources.metric, new_rows.brand_id, new_rows.id
  FROM new_rows LEFT JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'prompts'
  WHERE (new_rows.brand_id, new_rows.counts_in_metrics, new_rows.retired_at IS NULL)
    IS DISTINCT FROM (old_rows.brand_id, old_rows.counts_in_metrics, old_rows.retired_at IS NULL);
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION daily.enqueue_brands() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, old_rows.id FROM old_rows CROSS JOIN daily.sources;
  ELSE
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT sources.metric, id
    FROM new_rows
    FULL JOIN old_rows USING (id)
    JOIN daily.sources ON sources.source = 'brands'
    WHERE (new_rows.name, new_rows.display_name, new_rows.aliases)
      IS DISTINCT FROM (old_rows.name, old_rows.display_name, old_rows.aliases);
  END IF;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
-- The days of a model that is back are stored nowhere: every day is computed anew.
CREATE OR REPLACE FUNCTION daily.enqueue_models() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric, model_id)
  SELECT sources.metric, CASE WHEN old_rows.provider IS NOT NULL THEN id END
  FROM new_rows FULL JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'models'
  WHERE new_rows.provider IS DISTINCT FROM old_rows.provider;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION daily.enqueue_markets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric, market_id)
  SELECT sources.metric, CASE WHEN old_rows.name IS NOT NULL THEN id END
  FROM new_rows FULL JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'markets'
  WHERE new_rows.name IS DISTINCT FROM old_rows.name;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION daily.enqueue_truncate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric)
  SELECT metric FROM daily.sources WHERE source = coalesce(TG_ARGV[0], TG_TABLE_NAME);
  RETURN NULL;
END
$note$;
--> statement-breakpoint
-- As before, through the seam. What is dated outside of the calendar, which no check of ours may keep out of a table of
-- another application, is passed over: no window asks for it.
CREATE OR REPLACE FUNCTION daily.expand() RETURNS boolean
LANGUAGE plpgsql SET search_path = '' AS $widen$
DECLARE
  wide daily.refresh_queue;
  by_recording boolean;
BEGIN
  DELETE FROM daily.refresh_queue
  WHERE id = (SELECT id FROM daily.refresh_queue WHERE date IS NULL OR brand_id IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING * INTO wide;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  IF wide.model_id IS NOT NULL OR wide.market_id IS NOT NULL THEN
    INSERT INTO daily.refresh_queue (metric, brand_id, date)
    SELECT wide.metric, brand_id, date FROM daily.visibility
    WHERE model_id = wide.model_id OR market_id = wide.market_id
    UNION
    SELECT metric, brand_id, date FROM daily.refresh_queue WHERE metric = wide.metric AND date IS NOT NULL AND brand_id IS NOT NULL;
    RETURN true;
  END IF;

  IF wide.date IS NOT NULL THEN
    EXECUTE format(
      'INSERT INTO daily.refresh_queue (metric, brand_id, date)
       SELECT DISTINCT %L, brand_id, date FROM daily.%I WHERE date = $1
       UNION
       SELECT metric, brand_id, date FROM daily.refresh_queue WHERE metric = %L AND date = $1 AND brand_id IS NOT NULL',
      wide.metric, wide.metric, wide.metric)
    USING wide.date;
    RETURN true;
  END IF;

  SELECT bool_or(dated_by = 'recorded_at') INTO by_recording FROM daily.sources WHERE metric = wide.metric;
  IF by_recording THEN
    INSERT INTO daily.refresh_queue (metric, brand_id, date)
    SELECT wide.metric, brand_id, date
    FROM (
      SELECT DISTINCT
        coalesce(wide.brand_id, prompts.brand_id) AS brand_id, (citations.recorded_at AT TIME ZONE 'UTC')::date AS date
      FROM export_source.prompts
      JOIN export_source.answers ON answers.prompt_id = prompts.id
      JOIN export_source.citations ON citations.answer_id = answers.id
      WHERE prompts.id = wide.prompt_id
        OR wide.prompt_id IS NULL AND (prompts.brand_id = wide.brand_id OR wide.brand_id IS NULL)
    ) AS day
    WHERE date BETWEEN '0001-01-01' AND '9999-12-31';
  ELSE
    INSERT INTO daily.refresh_queue (metric, brand_id, date)
    SELECT wide.metric, brand_id, date
    FROM (
      SELECT DISTINCT
        coalesce(wide.brand_id, prompts.brand_id) AS brand_id, (answers.answered_at AT TIME ZONE 'UTC')::date AS date
      FROM export_source.prompts
      JOIN export_source.answers ON answers.prompt_id = prompts.id
      WHERE prompts.id = wide.prompt_id
        OR wide.prompt_id IS NULL AND (prompts.brand_id = wide.brand_id OR wide.brand_id IS NULL)
    ) AS day
    WHERE date BETWEEN '0001-01-01' AND '9999-12-31';
  END IF;

  IF wide.prompt_id IS NULL THEN
    EXECUTE format(
      'INSERT INTO daily.refresh_queue (metric, brand_id, date)
       SELECT DISTINCT %L, brand_id, date FROM daily.%I WHERE brand_id = $1 OR $1 IS NULL',
      wide.metric, wide.metric)
    USING wide.brand_id;
  END IF;
  RETURN true;
END
$widen$;
--> statement-breakpoint
-- The tables under the views of the seam that metrics are made from, each with the view; a view of a view is followed.
CREATE FUNCTION daily.source_tables() RETURNS TABLE (source text, base regclass)
LANGUAGE sql STABLE SET search_path = '' AS $tables$
  WITH RECURSIVE read AS (
    SELECT pg_class.relname::text AS source, pg_class.oid AS relation, pg_class.relkind
    FROM pg_catalog.pg_class
    WHERE pg_class.relnamespace = 'export_source'::regnamespace
      AND pg_class.relname IN (SELECT sources.source FROM daily.sources)
    UNION
    SELECT read.source, pg_class.oid, pg_class.relkind
    FROM read
    JOIN pg_catalog.pg_rewrite ON pg_rewrite.ev_class = read.relation
    JOIN pg_catalog.pg_depend
      ON pg_depend.classid = 'pg_catalog.pg_rewrite'::regclass AND pg_depend.objid = pg_rewrite.oid
      AND pg_depend.refclassid = 'pg_catalog.pg_class'::regclass AND pg_depend.refobjid <> read.relation
    JOIN pg_catalog.pg_class ON pg_class.oid = pg_depend.refobjid
    WHERE read.relkind = 'v'
  )
  SELECT DISTINCT read.source, read.relation::regclass FROM read WHERE read.relkind <> 'v'
$tables$;
--> statement-breakpoint
-- Those of them whose changes no trigger notes.
CREATE FUNCTION daily.untracked_tables() RETURNS TABLE (source text, base regclass)
LANGUAGE sql STABLE SET search_path = '' AS $unwatched$
  SELECT source_tables.source, source_tables.base
  FROM daily.source_tables()
  JOIN pg_catalog.pg_class ON pg_class.oid = source_tables.base
  WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_trigger
    JOIN pg_catalog.pg_proc ON pg_proc.oid = pg_trigger.tgfoid
    WHERE pg_trigger.tgrelid = source_tables.base AND pg_trigger.tgenabled = 'A'
      AND pg_proc.pronamespace = 'daily'::regnamespace
      AND pg_trigger.tgname IN (format('enqueue_%s_update', source_tables.source),
        CASE WHEN pg_class.relname = source_tables.source THEN 'enqueue_update' END))
$unwatched$;
--> statement-breakpoint
-- Puts triggers on a table that a view of the seam reads, so that every change of it is noted; what it is to the view
-- they take from the view itself, whose query they run over the rows that changed. So one row of the table must be
-- what it is in the view by itself: a view that groups rows, or joins tables, is refused. Call it again when the view has changed.
CREATE FUNCTION daily.install_triggers(of_table regclass, as_source text) RETURNS void
LANGUAGE plpgsql SET search_path = '' AS $capture$
DECLARE
  seen regclass := to_regclass(format('export_source.%I', as_source));
  home text;
  base text;
  mapping text;
  noting record;
  body text;
  ours text;
BEGIN
  IF seen IS NULL OR NOT EXISTS (SELECT FROM daily.sources WHERE source = as_source) THEN
    RAISE EXCEPTION 'No metric is made from %', as_source;
  END IF;
  SELECT nspname, relname INTO home, base
  FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
  WHERE pg_class.oid = of_table AND relkind IN ('r', 'p');
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is no table: only a table can have these triggers', of_table;
  END IF;
  -- Of a view that joins tables, one statement may delete rows of both: neither would find the other's any more.
  IF ARRAY[of_table] IS DISTINCT FROM ARRAY(
    SELECT DISTINCT refobjid::regclass FROM pg_catalog.pg_rewrite
    JOIN pg_catalog.pg_depend
      ON classid = 'pg_catalog.pg_rewrite'::regclass AND objid = pg_rewrite.oid
      AND refclassid = 'pg_catalog.pg_class'::regclass AND refobjid <> seen
    WHERE ev_class = seen
  ) THEN
    RAISE EXCEPTION '% does not read % alone', seen, of_table;
  END IF;
  -- Refused by Postgres where a row of the view is not one of the table.
  EXECUTE format('SELECT FROM %s LIMIT 0 FOR KEY SHARE', seen);

  -- With the table's schema in the path the view's query names the table without it, as a WITH can name the rows that
  -- changed.
  PERFORM set_config('search_path', quote_ident(home), true);
  mapping := rtrim(pg_catalog.pg_get_viewdef(seen), ';');
  PERFORM set_config('search_path', '', true);

  FOR noting IN
    SELECT rule.*, format('enqueue_%s_of_%s_%s', as_source, home, base) AS named
    FROM (VALUES
      ('answers', 'enqueue_answers', 'INSERT UPDATE DELETE'),
      ('prompts', 'enqueue_prompts', 'UPDATE DELETE'),
      ('brands', 'enqueue_brands', 'UPDATE DELETE'),
      ('competitors', 'enqueue_competitors', 'INSERT UPDATE DELETE'),
      ('models', 'enqueue_models', 'UPDATE'),
      ('markets', 'enqueue_markets', 'UPDATE'),
      ('citations', 'enqueue_citations', 'INSERT UPDATE DELETE'),
      ('answer_mentions', 'enqueue_answer_details', 'INSERT UPDATE DELETE'),
      ('sentiment_phrases', 'enqueue_answer_details', 'INSERT UPDATE DELETE'),
      ('recommendations', 'enqueue_answer_details', 'INSERT UPDATE DELETE')
    ) AS rule(source, written_as, events)
    WHERE rule.source = as_source
  LOOP
    body := regexp_replace(daily.source_of(noting.written_as), '\m(FROM|JOIN) (new_rows|old_rows)\M(?!\.)', '\1 <\2> AS \2', 'g');
    body := replace(body, 'TG_TABLE_NAME', quote_literal(as_source));
    body := replace(body, '<new_rows>', format('(WITH %I AS (SELECT * FROM new_rows) %s)', base, mapping));
    body := replace(body, '<old_rows>', format('(WITH %I AS (SELECT * FROM old_rows) %s)', base, mapping));
    ours := daily.create_trigger_function(noting.named, home, body);

    PERFORM daily.create_trigger(of_table, format('enqueue_%s_%s', as_source, lower(event)), format(
      'AFTER %s ON %s REFERENCING %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
      event, of_table,
      CASE event WHEN 'INSERT' THEN 'NEW TABLE AS new_rows' WHEN 'DELETE' THEN 'OLD TABLE AS old_rows'
        ELSE 'OLD TABLE AS old_rows NEW TABLE AS new_rows' END,
      ours))
    FROM unnest(string_to_array(noting.events, ' ')) AS event;
  END LOOP;
  PERFORM daily.create_trigger(of_table, format('enqueue_%s_truncate', as_source), format(
    'AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate(%L)', of_table, as_source));

  IF as_source = 'answers' THEN
    ours := daily.create_trigger_function(
      format('note_recordings_of_%s_%s', home, base), home,
      replace(daily.source_of('enqueue_recorded_days'), '(SELECT OLD.*)',
        format('(WITH %I AS (SELECT OLD.*) %s)', base, mapping)));
    PERFORM daily.create_trigger(of_table, 'enqueue_recorded_days', format(
      'BEFORE DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s()', of_table, ours));
  END IF;

  -- What changed before.
  INSERT INTO daily.refresh_queue (metric)
  SELECT metric FROM daily.sources WHERE source = as_source
  EXCEPT
  SELECT metric FROM daily.refresh_queue WHERE num_nonnulls(brand_id, date, prompt_id, model_id, market_id) = 0;
END
$capture$;
--> statement-breakpoint
CREATE FUNCTION daily.source_of(function_name text) RETURNS text
LANGUAGE sql STABLE SET search_path = '' AS $source$
  SELECT prosrc FROM pg_catalog.pg_proc WHERE pronamespace = 'daily'::regnamespace AND proname = function_name
$source$;
--> statement-breakpoint
-- Makes a trigger's function that finds a table by its bare name, and gives the function's.
CREATE FUNCTION daily.create_trigger_function(function_name text, home text, body text) RETURNS text
LANGUAGE plpgsql SET search_path = '' AS $over$
DECLARE
  -- Names beyond 63 bytes are cut short by Postgres, and two could become one.
  name text := format('daily.%I', CASE WHEN octet_length(function_name) <= 63 THEN function_name
    ELSE left(function_name, 20) || '_' || md5(function_name) END);
BEGIN
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = %I, pg_temp AS %L',
    name, home, body);
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s() FROM PUBLIC', name);
  RETURN name;
END
$over$;
--> statement-breakpoint
-- Triggers fire for loads too that switch triggers off for their session (session_replication_role).
CREATE FUNCTION daily.create_trigger(of_table regclass, trigger_name text, definition text) RETURNS void
LANGUAGE plpgsql SET search_path = '' AS $put$
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER %I %s', trigger_name, definition);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', of_table, trigger_name);
END
$put$;
--> statement-breakpoint
-- Begins a refresh where changes are not noted: notes the last days (daily.rolling_window), and at first every day. All that
-- lies before them is settled as soon as these notes are; so what a refresh leaves undone is not settled, and days that
-- went by while none ran are noted by the next. Unless it is to begin anew, it leaves a refresh that is under way its
-- time: notes that are an hour old, of a day that cannot be computed for instance, hold up nothing.
-- Where triggers note the changes it does nothing but look whether they are there.
CREATE FUNCTION daily.enqueue_rolling_window(anew boolean, today date DEFAULT (now() AT TIME ZONE 'UTC')::date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $trailing$
DECLARE
  extent daily.rolling_window;
  first date;
  of_metric text;
  added integer;
  noted integer := 0;
BEGIN
  SELECT * INTO extent FROM daily.rolling_window FOR UPDATE;
  IF NOT FOUND THEN
    SELECT count(*) INTO added FROM daily.untracked_tables();
    IF added > 0 THEN
      RAISE EXCEPTION 'Nobody notes when % changes',
          (SELECT string_agg(DISTINCT base::text, ', ' ORDER BY base::text) FROM daily.untracked_tables())
        USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'select daily.install_triggers(table, source) puts triggers on a table; '
            'insert into daily.rolling_window (days) values (7) has the last 7 days computed anew instead';
    END IF;
    RETURN 0;
  END IF;
  IF NOT anew AND extent.enqueued_at > now() - interval '1 hour'
    AND EXISTS (SELECT FROM daily.refresh_queue WHERE id <= extent.last_entry) THEN
    RETURN 0;
  END IF;

  first := least(extent.watermark, today - extent.days) + 1;
  IF extent.watermark = '-infinity' THEN
    INSERT INTO daily.refresh_queue (metric) SELECT DISTINCT metric FROM daily.sources;
    GET DIAGNOSTICS noted = ROW_COUNT;
  ELSE
    WITH answered AS MATERIALIZED (
      SELECT DISTINCT brand_id, date FROM metrics.counted_answers WHERE date BETWEEN first AND '9999-12-31'
    ), recorded AS MATERIALIZED (
      SELECT DISTINCT counted.brand_id, (cited.recorded_at AT TIME ZONE 'UTC')::date AS date
      FROM export_source.citations AS cited
      JOIN metrics.counted_answers AS counted ON counted.answer_id = cited.answer_id
      WHERE (cited.recorded_at AT TIME ZONE 'UTC')::date BETWEEN first AND '9999-12-31'
    )
    INSERT INTO daily.refresh_queue (metric, brand_id, date)
    SELECT DISTINCT sources.metric, answered.brand_id, answered.date
    FROM daily.sources CROSS JOIN answered WHERE sources.dated_by = 'answered_at'
    UNION ALL
    SELECT DISTINCT sources.metric, recorded.brand_id, recorded.date
    FROM daily.sources CROSS JOIN recorded WHERE sources.dated_by = 'recorded_at'
    EXCEPT
    SELECT metric, brand_id, date FROM daily.refresh_queue;
    GET DIAGNOSTICS noted = ROW_COUNT;

    -- Days whose last raw row may be old_rows.
    FOR of_metric IN SELECT DISTINCT metric FROM daily.sources LOOP
      EXECUTE format(
        'INSERT INTO daily.refresh_queue (metric, brand_id, date)
         SELECT DISTINCT %1$L, brand_id, date FROM daily.%1$I WHERE date >= $1
         EXCEPT SELECT metric, brand_id, date FROM daily.refresh_queue', of_metric)
      USING first;
      GET DIAGNOSTICS added = ROW_COUNT;
      noted := noted + added;
    END LOOP;
  END IF;

  UPDATE daily.rolling_window
  SET watermark = today - days, enqueued_at = now(), last_entry = (SELECT max(id) FROM daily.refresh_queue);
  RETURN noted;
END
$trailing$;
--> statement-breakpoint
-- As before, and no later than the last day that no refresh computes anew by itself, where changes are not noted.
CREATE OR REPLACE FUNCTION daily.watermark(of_metric text, of_brand uuid, first date, last date) RETURNS date
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
    (SELECT watermark FROM daily.rolling_window WHERE single),
    (SELECT min(date) - 1 FROM daily.refresh_queue WHERE metric = of_metric AND brand_id = of_brand AND date >= first),
    (SELECT min(date) - 1 FROM daily.refresh_queue WHERE metric = of_metric AND brand_id IS NULL AND date >= first));
END
$settled$;
--> statement-breakpoint
-- As before, but for the views of the seam in place of the tables.
CREATE OR REPLACE FUNCTION daily.grant_roles() RETURNS void
LANGUAGE plpgsql AS $grant$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['export_api_reader', 'export_api_refresher', 'export_api_keys'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
      END IF;
    EXCEPTION
      -- Roles belong to the whole server: another database makes it at this very moment.
      WHEN duplicate_object OR unique_violation THEN NULL;
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'The role % is missing. Have whoever may make roles run: select daily.grant_roles()', name;
        RETURN;
    END;
  END LOOP;

  ALTER DEFAULT PRIVILEGES IN SCHEMA daily REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
  REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA daily FROM PUBLIC;

  GRANT USAGE ON SCHEMA export_source TO export_api_reader, export_api_keys;
  GRANT USAGE ON SCHEMA metrics TO export_api_reader;
  GRANT USAGE ON SCHEMA daily TO export_api_reader, export_api_refresher;

  GRANT SELECT (id, organization_id, created_by, scope, key_hash, brand_ids, expires_at, revoked_at)
    ON export_source.api_keys TO export_api_reader;
  GRANT SELECT (organization_id, user_id, role) ON export_source.memberships TO export_api_reader, export_api_keys;
  GRANT SELECT (organization_id, plan, status) ON export_source.subscriptions TO export_api_reader, export_api_keys;
  GRANT SELECT (id, organization_id, active) ON export_source.brands TO export_api_reader;
  GRANT SELECT ON metrics.brand_listing TO export_api_reader;
  FOR name IN SELECT DISTINCT metric FROM daily.sources LOOP
    EXECUTE format('GRANT SELECT ON daily.%I TO export_api_reader', name);
  END LOOP;
  GRANT SELECT (metric, brand_id, date) ON daily.refresh_queue TO export_api_reader;
  GRANT SELECT ON daily.rolling_window TO export_api_reader, export_api_refresher;
  GRANT EXECUTE ON FUNCTION daily.watermark(text, uuid, date, date) TO export_api_reader;

  GRANT EXECUTE ON FUNCTION daily.refresh(integer, integer) TO export_api_refresher;
  GRANT EXECUTE ON FUNCTION daily.enqueue_rolling_window(boolean, date) TO export_api_refresher;
  GRANT SELECT, INSERT (metric) ON daily.refresh_queue TO export_api_refresher;
  GRANT SELECT ON daily.sources TO export_api_refresher;

  GRANT SELECT (id, organization_id) ON export_source.brands TO export_api_keys;
  GRANT SELECT, INSERT, UPDATE (revoked_at) ON export_source.api_keys TO export_api_keys;

  BEGIN
    EXECUTE format('ALTER ROLE export_api_reader IN DATABASE %I SET default_transaction_read_only = on', current_database());
    EXECUTE format('ALTER ROLE export_api_reader IN DATABASE %I SET statement_timeout = %L', current_database(), '8s');
    EXECUTE format('ALTER ROLE export_api_keys IN DATABASE %I SET statement_timeout = %L', current_database(), '10s');
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'The roles have no settings of their own: have whoever made them run: select daily.grant_roles()';
  END;
END
$grant$;
--> statement-breakpoint
-- The roles need the tables under the seam no more. Where they are missing there is nothing to take back.
DO $$ BEGIN
  REVOKE ALL ON public.api_keys, public.memberships, public.subscriptions, public.brands
    FROM export_api_reader, export_api_keys;
EXCEPTION WHEN undefined_object THEN NULL;
END $$;
--> statement-breakpoint
SELECT daily.grant_roles();
