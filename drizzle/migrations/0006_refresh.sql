-- Turns one wide note (every day of a brand, of a prompt, of a market …) into one note a day, and says whether there
-- was one. It runs after the change that wrote the note, and so sees all that was committed beside it; days that
-- another refresh has under way are still noted, and count too.
CREATE FUNCTION daily.expand() RETURNS boolean
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
    SELECT DISTINCT wide.metric, coalesce(wide.brand_id, prompts.brand_id), (citations.recorded_at AT TIME ZONE 'UTC')::date
    FROM public.prompts
    JOIN public.answers ON answers.prompt_id = prompts.id
    JOIN public.citations ON citations.answer_id = answers.id
    WHERE prompts.id = wide.prompt_id
      OR wide.prompt_id IS NULL AND (prompts.brand_id = wide.brand_id OR wide.brand_id IS NULL);
  ELSE
    INSERT INTO daily.refresh_queue (metric, brand_id, date)
    SELECT DISTINCT wide.metric, coalesce(wide.brand_id, prompts.brand_id), (answers.answered_at AT TIME ZONE 'UTC')::date
    FROM public.prompts
    JOIN public.answers ON answers.prompt_id = prompts.id
    WHERE prompts.id = wide.prompt_id
      OR wide.prompt_id IS NULL AND (prompts.brand_id = wide.brand_id OR wide.brand_id IS NULL);
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
-- Makes the stored rows of one metric equal to the view's, over some brands and days, and touches only rows that differ.
-- The columns are the table's, the key is its primary key. The settings are for pages that are mostly in memory or on
-- flash: with the defaults, a day of a large brand is looked for by reading all of its citations.
CREATE FUNCTION daily.recompute(of_metric text, of_brands uuid[], first date, last date) RETURNS void
LANGUAGE plpgsql
SET search_path = '' SET random_page_cost = 1.1 SET jit = off SET work_mem = '32MB'
AS $recompute$
DECLARE
  stored regclass := format('daily.%I', of_metric)::regclass;
  keys text;
  same_key text;
  cols text;
  sets text;
BEGIN
  SELECT
    string_agg(quote_ident(attname), ', ' ORDER BY attnum),
    string_agg(format('%1$I = excluded.%1$I', attname), ', ' ORDER BY attnum)
  INTO cols, sets
  FROM pg_catalog.pg_attribute
  WHERE attrelid = stored AND attnum > 0 AND NOT attisdropped AND attgenerated = '';

  SELECT
    string_agg(quote_ident(attname), ', ' ORDER BY attnum),
    string_agg(format('gone.%1$I = kept.%1$I', attname), ' AND ')
  INTO keys, same_key
  FROM pg_catalog.pg_index
  JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
  WHERE indrelid = stored AND indisprimary;

  -- Rows that are equal already are left out ahead of the upsert, which would lock them one by one. EXCEPT, and not a
  -- join: it costs the same however wrong the planner is about the size of the two. In the order of the key, since
  -- pages read them so.
  EXECUTE format(
    'WITH fresh AS MATERIALIZED (
       SELECT %2$s FROM metrics.%1$I WHERE brand_id = ANY ($1) AND date BETWEEN $2 AND $3
     ), stored AS MATERIALIZED (
       SELECT %2$s FROM daily.%1$I WHERE brand_id = ANY ($1) AND date BETWEEN $2 AND $3
     ), gone AS (
       DELETE FROM daily.%1$I AS kept
       USING (SELECT %3$s FROM stored EXCEPT SELECT %3$s FROM fresh) AS gone
       WHERE kept.brand_id = ANY ($1) AND kept.date BETWEEN $2 AND $3 AND %4$s
     )
     INSERT INTO daily.%1$I (%2$s)
     SELECT %2$s FROM (SELECT %2$s FROM fresh EXCEPT SELECT %2$s FROM stored) AS differing
     ORDER BY %3$s
     ON CONFLICT (%3$s) DO UPDATE SET %5$s',
    of_metric, cols, keys, same_key, sets)
  USING of_brands, first, last;
END
$recompute$;
--> statement-breakpoint
-- One bounded step of the refresh: the newest noted day of one metric and noted days shortly before it, for some brands.
-- Returns how many notes it settled; 0 when nothing is left that no other refresh has under way. Run in a transaction
-- of its own: readers see a day before it or after it. What cannot be computed keeps its notes and holds nothing else
-- up: its error is raised when nothing else is left to do.
CREATE FUNCTION daily.refresh(max_brands integer, max_days integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $refresh$
DECLARE
  busy text[] := '{}';
  newest date;
  oldest date;
  next_metric text;
  brands uuid[];
  settled integer;
  failure text;
BEGIN
  LOOP
    SELECT date, metric INTO newest, next_metric
    FROM daily.refresh_queue
    WHERE brand_id IS NOT NULL AND metric <> ALL (busy)
      AND (date, metric) < (coalesce(newest, 'infinity'), coalesce(next_metric, ''))
    ORDER BY date DESC, metric DESC
    LIMIT 1;
    EXIT WHEN NOT FOUND;

    -- Two refreshes never compute the same metric at once: the later one must see the earlier one's rows.
    IF NOT pg_try_advisory_xact_lock(hashtext('daily.' || next_metric)) THEN
      busy := busy || next_metric;
      CONTINUE;
    END IF;

    BEGIN
      WITH noted AS (
        SELECT id, brand_id, date FROM daily.refresh_queue
        WHERE metric = next_metric AND date > newest - max_days AND date <= newest AND brand_id IN (
          SELECT DISTINCT brand_id FROM daily.refresh_queue
          WHERE date = newest AND metric = next_metric AND brand_id IS NOT NULL LIMIT max_brands)
        FOR UPDATE SKIP LOCKED
      ), taken AS (
        DELETE FROM daily.refresh_queue USING noted WHERE refresh_queue.id = noted.id
      )
      SELECT array_agg(DISTINCT brand_id), min(date), count(*) INTO brands, oldest, settled FROM noted;
      CONTINUE WHEN settled = 0;

      -- A statement of its own, and so a later snapshot: it sees every change whose note was taken.
      PERFORM daily.recompute(next_metric, brands, oldest, newest);
      RETURN settled;
    EXCEPTION
      -- What another try may well do is left to it.
      WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
        RAISE;
      WHEN OTHERS THEN
        failure := format('%s of %s: %s', next_metric, newest, SQLERRM);
    END;
  END LOOP;
  -- Wide notes come last, so that a large one never keeps noted days waiting.
  IF daily.expand() THEN
    RETURN 1;
  END IF;
  IF failure IS NOT NULL THEN
    RAISE EXCEPTION 'A day cannot be computed: %', failure;
  END IF;
  RETURN 0;
END
$refresh$;
--> statement-breakpoint
-- Daily rows are read by index in pages of 1000, from memory or from flash. With the default, which is for spinning
-- disks, a brand of some ten thousand rows is sorted for each page instead.
-- Where somebody else owns the database, it is theirs to set.
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1.1', current_database());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'random_page_cost stays as it is: only the owner of the database can set it to 1.1';
END $$;
