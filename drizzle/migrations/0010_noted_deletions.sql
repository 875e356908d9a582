CREATE TABLE "daily"."deleted_answers" (
	"answer_id" uuid NOT NULL,
	"date" date NOT NULL,
	"transaction_id" "xid8" NOT NULL,
	CONSTRAINT "noted_deletions_answer_id_date_pk" PRIMARY KEY("answer_id","date")
);
--> statement-breakpoint
-- What a foreign key deletes reaches the triggers of statements at the depth of the statement that caused it: the depth
-- tells no cascade from what a caller deletes. So each answer leaves word that its citations' days are noted. Triggers
-- on another application's tables do so once daily.install_triggers is called again; until then they note such days for every brand.
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
    INSERT INTO daily.deleted_answers (answer_id, date, transaction_id)
    SELECT leaving.id, day.date, pg_current_xact_id()
    FROM (SELECT OLD.*) AS leaving CROSS JOIN unnest(dates) AS day(date)
    WHERE day.date IS NOT NULL
    ON CONFLICT (answer_id, date) DO UPDATE SET transaction_id = excluded.transaction_id;
  END IF;
  RETURN OLD;
END
$note$;
--> statement-breakpoint
-- As before, but for the note for every brand. Postgres replaces a function whole, and transition tables are seen in
-- the trigger's function alone: what comes and what goes cannot share one.
CREATE OR REPLACE FUNCTION daily.enqueue_citations() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $note$
DECLARE
  prompt_ids uuid[];
  answered date[];
  recorded date[];
BEGIN
  -- As in daily.enqueue_answer_details.
  IF TG_OP <> 'INSERT' THEN
    PERFORM FROM export_source.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR KEY SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'INSERT' THEN
    PERFORM FROM export_source.answers WHERE id IN (SELECT answer_id FROM old_rows) FOR SHARE;
  END IF;
  IF daily.has_fixed_snapshot() AND TG_OP <> 'DELETE' THEN
    PERFORM FROM export_source.answers WHERE id IN (SELECT answer_id FROM new_rows) FOR SHARE;
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
        SELECT prompt_id, answered_at FROM export_source.answers WHERE answers.id = old_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, answered);
    PERFORM daily.enqueue(TG_TABLE_NAME, 'recorded_at', prompt_ids, recorded);

    -- One statement may delete an answer and its citations side by side. Whose they were is not to be found then, and
    -- the note is for every brand; unless the answer noted them as it went, as it does ahead of a cascade.
    INSERT INTO daily.refresh_queue (metric, date)
    SELECT DISTINCT sources.metric, (old_rows.recorded_at AT TIME ZONE 'UTC')::date
    FROM old_rows
    JOIN daily.sources ON sources.source = TG_TABLE_NAME AND sources.dated_by = 'recorded_at'
    WHERE old_rows.recorded_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM export_source.answers WHERE answers.id = old_rows.answer_id)
      AND NOT EXISTS (
        SELECT FROM daily.deleted_answers AS noted
        WHERE noted.answer_id = old_rows.answer_id AND noted.date = (old_rows.recorded_at AT TIME ZONE 'UTC')::date
          AND noted.transaction_id = pg_current_xact_id());
    DELETE FROM daily.deleted_answers WHERE answer_id IN (SELECT answer_id FROM old_rows);
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
        SELECT prompt_id, answered_at FROM export_source.answers WHERE answers.id = new_rows.answer_id OFFSET 0
      ) AS answer
    ) AS day;
    PERFORM daily.enqueue(TG_TABLE_NAME, 'answered_at', prompt_ids, answered);
    PERFORM daily.enqueue(TG_TABLE_NAME, 'recorded_at', prompt_ids, recorded);
  END IF;
  RETURN NULL;
END
$note$;
