-- What each metric is made from. A new metric adds its rows here, in the migration that adds its view and its table.
INSERT INTO daily.sources (metric, source, dated_by) VALUES
  ('visibility', 'answers', 'answered_at'),
  ('visibility', 'prompts', 'answered_at'),
  ('visibility', 'answer_mentions', 'answered_at'),
  ('visibility', 'brands', 'answered_at'),
  ('visibility', 'models', 'answered_at'),
  ('visibility', 'markets', 'answered_at'),
  ('competitors', 'answers', 'answered_at'),
  ('competitors', 'prompts', 'answered_at'),
  ('competitors', 'answer_mentions', 'answered_at'),
  ('competitors', 'competitors', 'answered_at'),
  ('citations', 'answers', 'recorded_at'),
  ('citations', 'prompts', 'recorded_at'),
  ('citations', 'citations', 'recorded_at'),
  ('citation_share', 'answers', 'answered_at'),
  ('citation_share', 'prompts', 'answered_at'),
  ('citation_share', 'citations', 'answered_at'),
  ('sentiment', 'answers', 'answered_at'),
  ('sentiment', 'prompts', 'answered_at'),
  ('sentiment', 'sentiment_phrases', 'answered_at'),
  ('recommended_rate', 'answers', 'answered_at'),
  ('recommended_rate', 'prompts', 'answered_at'),
  ('recommended_rate', 'recommendations', 'answered_at'),
  ('recommended_rate', 'brands', 'answered_at'),
  ('recommended_rate', 'competitors', 'answered_at');
--> statement-breakpoint
-- Whether this transaction still sees what others have changed since it began. It must not note where an answer was
-- then: a stronger lock makes Postgres refuse it instead (40001), and it can be tried again.
CREATE FUNCTION daily.has_fixed_snapshot() RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT current_setting('transaction_isolation') IN ('repeatable read', 'serializable') $$;
--> statement-breakpoint
-- Notes days of prompts' brands. Whoever moves a prompt to another brand meanwhile waits for this transaction, or has
-- committed before the brand is read: else both would note the brand that the prompt leaves, and nobody the other one.
-- The triggers run as their owner, so that whoever may write a raw row needs no right on the notes.
CREATE FUNCTION daily.enqueue(of_source text, of_dated_by text, prompt_ids uuid[], dates date[]) RETURNS void
LANGUAGE plpgsql SET search_path = '' AS $note$
BEGIN
  IF daily.has_fixed_snapshot() THEN
    PERFORM FROM public.prompts WHERE id = ANY (prompt_ids) FOR SHARE;
  ELSE
    PERFORM FROM public.prompts WHERE id = ANY (prompt_ids) FOR KEY SHARE;
  END IF;

  INSERT INTO daily.refresh_queue (metric, brand_id, date)
  SELECT sources.metric, changed.brand_id, changed.date
  FROM (
    SELECT DISTINCT prompts.brand_id, day.date
    FROM unnest(prompt_ids, dates) AS day(prompt_id, date)
    JOIN public.prompts ON prompts.id = day.prompt_id
  ) AS changed
  JOIN daily.sources ON sources.source = of_source AND sources.dated_by = of_dated_by;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_answers() RETURNS trigger
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
    PERFORM FROM public.answers
    WHERE id IN (
      SELECT new_rows.id FROM new_rows JOIN old_rows USING (id)
      WHERE (new_rows.answered_at, new_rows.prompt_id, new_rows.error IS NULL)
        IS DISTINCT FROM (old_rows.answered_at, old_rows.prompt_id, old_rows.error IS NULL))
    FOR UPDATE;

    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT moved.prompt_id, (cited.recorded_at AT TIME ZONE 'UTC')::date AS date
      FROM new_rows
      JOIN old_rows USING (id)
      JOIN public.citations AS cited ON cited.answer_id = new_rows.id
      CROSS JOIN LATERAL (VALUES (new_rows.prompt_id), (old_rows.prompt_id)) AS moved(prompt_id)
      WHERE (new_rows.prompt_id, new_rows.error IS NULL) IS DISTINCT FROM (old_rows.prompt_id, old_rows.error IS NULL)
    ) AS day;
    PERFORM daily.enqueue('answers', 'recorded_at', prompt_ids, dates);

    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT prompt_id, (answered_at AT TIME ZONE 'UTC')::date AS date
      FROM ((TABLE old_rows EXCEPT TABLE new_rows) UNION ALL (TABLE new_rows EXCEPT TABLE old_rows)) AS changed
    ) AS day;
  END IF;
  PERFORM daily.enqueue('answers', 'answered_at', prompt_ids, dates);
  RETURN NULL;
END
$note$;
--> statement-breakpoint
-- For the tables that belong to an answer: notes the answer's day. Answers are looked up one by one (OFFSET 0): a session
-- keeps the plan of its first statement, and after a bulk load a single row must not cost a walk through all answers.
CREATE FUNCTION daily.enqueue_answer_details() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  prompt_ids uuid[];
  dates date[];
BEGIN
  -- A new row's foreign key has locked its answer already; for others it is done here. See daily.enqueue_answers.
  IF TG_OP <> 'INSERT' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR KEY SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'INSERT' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'DELETE' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM new_rows) FOR SHARE;
  END IF;

  IF TG_OP <> 'INSERT' THEN
    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT answer.prompt_id, (answer.answered_at AT TIME ZONE 'UTC')::date AS date
      FROM old_rows CROSS JOIN LATERAL (
        SELECT prompt_id, answered_at FROM public.answers WHERE answers.id = old_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, dates);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT array_agg(day.prompt_id), array_agg(day.date) INTO prompt_ids, dates
    FROM (
      SELECT DISTINCT answer.prompt_id, (answer.answered_at AT TIME ZONE 'UTC')::date AS date
      FROM new_rows CROSS JOIN LATERAL (
        SELECT prompt_id, answered_at FROM public.answers WHERE answers.id = new_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, dates);
  END IF;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
-- For citations, beside the answer's day: the day of the recording.
CREATE FUNCTION daily.enqueue_citations() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  prompt_ids uuid[];
  answered date[];
  recorded date[];
BEGIN
  -- As in daily.enqueue_answer_details.
  IF TG_OP <> 'INSERT' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR KEY SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'INSERT' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'DELETE' THEN
    PERFORM FROM public.answers WHERE id IN (SELECT answer_id FROM new_rows) FOR SHARE;
  END IF;

  IF TG_OP <> 'INSERT' THEN
    SELECT array_agg(day.prompt_id), array_agg(day.answered), array_agg(day.recorded)
    INTO prompt_ids, answered, recorded
    FROM (
      SELECT DISTINCT
        answer.prompt_id,
        (answer.answered_at AT TIME ZONE 'UTC')::date AS answered,
        (old_rows.recorded_at AT TIME ZONE 'UTC')::date AS recorded
      FROM old_rows CROSS JOIN LATERAL (
        SELECT prompt_id, answered_at FROM public.answers WHERE answers.id = old_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, answered);
    PERFORM daily.enqueue(TG_TABLE_NAME, 'recorded_at', prompt_ids, recorded);

    -- One statement may delete an answer and its citations side by side. Whose they were is not to be found then, and
    -- the note is for every brand. (In a cascade, one level deeper, the answer has noted them.)
    IF pg_trigger_depth() = 1 THEN
      INSERT INTO daily.refresh_queue (metric, date)
      SELECT DISTINCT sources.metric, (old_rows.recorded_at AT TIME ZONE 'UTC')::date
      FROM old_rows
      JOIN daily.sources ON sources.source = TG_TABLE_NAME AND sources.dated_by = 'recorded_at'
      WHERE NOT EXISTS (SELECT FROM public.answers WHERE answers.id = old_rows.answer_id);
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT array_agg(day.prompt_id), array_agg(day.answered), array_agg(day.recorded)
    INTO prompt_ids, answered, recorded
    FROM (
      SELECT DISTINCT
        answer.prompt_id,
        (answer.answered_at AT TIME ZONE 'UTC')::date AS answered,
        (new_rows.recorded_at AT TIME ZONE 'UTC')::date AS recorded
      FROM new_rows CROSS JOIN LATERAL (
        SELECT prompt_id, answered_at FROM public.answers WHERE answers.id = new_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, answered);
    PERFORM daily.enqueue(TG_TABLE_NAME, 'recorded_at', prompt_ids, recorded);
  END IF;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
-- Ahead of the cascade that takes an answer's citations with it: afterwards they can no longer be traced to a brand.
CREATE FUNCTION daily.enqueue_recorded_days() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  dates date[] := ARRAY(
    SELECT DISTINCT (recorded_at AT TIME ZONE 'UTC')::date FROM public.citations WHERE answer_id = OLD.id);
BEGIN
  IF dates <> '{}' THEN
    PERFORM daily.enqueue('answers', 'recorded_at', array_fill(OLD.prompt_id, ARRAY[cardinality(dates)]), dates);
  END IF;
  RETURN OLD;
END
$note$;
--> statement-breakpoint
-- A prompt that starts or stops to count changes every day that has an answer to it. The days are looked up by the
-- refresh, after this transaction, so that answers which another one is adding right now are not missed. A brand that
-- loses a prompt has every day computed anew: which days those were may be forgotten by then.
CREATE FUNCTION daily.enqueue_prompts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, old_rows.brand_id
    FROM old_rows JOIN daily.sources ON sources.source = 'prompts';
    RETURN NULL;
  END IF;

  PERFORM FROM public.prompts
  WHERE id IN (SELECT new_rows.id FROM new_rows JOIN old_rows USING (id) WHERE new_rows.brand_id <> old_rows.brand_id)
  FOR UPDATE;

  INSERT INTO daily.refresh_queue (metric, brand_id)
  SELECT DISTINCT sources.metric, old_rows.brand_id
  FROM new_rows JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'prompts'
  WHERE new_rows.brand_id <> old_rows.brand_id;

  INSERT INTO daily.refresh_queue (metric, brand_id, prompt_id)
  SELECT sources.metric, new_rows.brand_id, new_rows.id
  FROM new_rows JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'prompts'
  WHERE (new_rows.brand_id, new_rows.counts_in_metrics, new_rows.retired_at IS NULL)
    IS DISTINCT FROM (old_rows.brand_id, old_rows.counts_in_metrics, old_rows.retired_at IS NULL);
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_brands() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, old_rows.id FROM old_rows CROSS JOIN daily.sources;
  ELSE
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT sources.metric, new_rows.id
    FROM new_rows
    JOIN old_rows USING (id)
    JOIN daily.sources ON sources.source = 'brands'
    WHERE (new_rows.name, new_rows.display_name, new_rows.aliases)
      IS DISTINCT FROM (old_rows.name, old_rows.display_name, old_rows.aliases);
  END IF;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_competitors() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, new_rows.brand_id
    FROM new_rows JOIN daily.sources ON sources.source = 'competitors';
  END IF;
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO daily.refresh_queue (metric, brand_id)
    SELECT DISTINCT sources.metric, old_rows.brand_id
    FROM old_rows JOIN daily.sources ON sources.source = 'competitors';
  END IF;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_models() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric, model_id)
  SELECT sources.metric, new_rows.id
  FROM new_rows JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'models'
  WHERE new_rows.provider <> old_rows.provider;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_markets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric, market_id)
  SELECT sources.metric, new_rows.id
  FROM new_rows JOIN old_rows USING (id) JOIN daily.sources ON sources.source = 'markets'
  WHERE new_rows.name <> old_rows.name;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE FUNCTION daily.enqueue_truncate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
BEGIN
  INSERT INTO daily.refresh_queue (metric)
  SELECT metric FROM daily.sources WHERE source = TG_TABLE_NAME;
  RETURN NULL;
END
$note$;
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.answers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answers();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.answers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answers();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.answers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answers();
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.answer_mentions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.answer_mentions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.answer_mentions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.citations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_citations();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.citations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_citations();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.citations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_citations();
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.sentiment_phrases REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.sentiment_phrases REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.sentiment_phrases REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.recommendations REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.recommendations REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.recommendations REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_answer_details();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.prompts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_prompts();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.brands REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_brands();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.brands REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_brands();
--> statement-breakpoint
CREATE TRIGGER enqueue_insert AFTER INSERT ON public.competitors REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_competitors();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.competitors REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_competitors();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.competitors REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_competitors();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.models REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_models();
--> statement-breakpoint
CREATE TRIGGER enqueue_update AFTER UPDATE ON public.markets REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_markets();
--> statement-breakpoint
CREATE TRIGGER enqueue_recorded_days BEFORE DELETE ON public.answers FOR EACH ROW EXECUTE FUNCTION daily.enqueue_recorded_days();
--> statement-breakpoint
CREATE TRIGGER enqueue_delete AFTER DELETE ON public.prompts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_prompts();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.answers FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.answer_mentions FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.citations FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.sentiment_phrases FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.recommendations FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.prompts FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.brands FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
CREATE TRIGGER enqueue_truncate AFTER TRUNCATE ON public.competitors FOR EACH STATEMENT EXECUTE FUNCTION daily.enqueue_truncate();
--> statement-breakpoint
-- Loads that switch triggers off for their session (session_replication_role) are noted as well.
DO $$ DECLARE noting record; BEGIN
  FOR noting IN
    SELECT tgrelid::regclass AS of_table, tgname FROM pg_trigger
    JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND pronamespace = 'daily'::regnamespace
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', noting.of_table, noting.tgname);
  END LOOP;
END $$;
