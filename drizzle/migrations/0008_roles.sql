-- Roles of least privilege, one for each job: the Workers that answer requests, the refresh, and whoever makes keys.
-- They cannot log in until they are given a password. The grants stand in a function, so that they can be given again
-- where the roles are made later, by somebody else.
CREATE FUNCTION daily.grant_roles() RETURNS void
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

  GRANT USAGE ON SCHEMA public TO export_api_reader, export_api_keys;
  GRANT USAGE ON SCHEMA metrics TO export_api_reader;
  GRANT USAGE ON SCHEMA daily TO export_api_reader, export_api_refresher;

  GRANT SELECT (id, organization_id, created_by, scope, key_hash, brand_ids, expires_at, revoked_at)
    ON public.api_keys TO export_api_reader;
  GRANT SELECT (organization_id, user_id, role) ON public.memberships TO export_api_reader, export_api_keys;
  GRANT SELECT (organization_id, plan, status) ON public.subscriptions TO export_api_reader, export_api_keys;
  GRANT SELECT (id, organization_id, active) ON public.brands TO export_api_reader;
  GRANT SELECT ON metrics.brand_listing TO export_api_reader;
  FOR name IN SELECT DISTINCT metric FROM daily.sources LOOP
    EXECUTE format('GRANT SELECT ON daily.%I TO export_api_reader', name);
  END LOOP;
  GRANT SELECT (metric, brand_id, date) ON daily.refresh_queue TO export_api_reader;
  GRANT EXECUTE ON FUNCTION daily.watermark(text, uuid, date, date) TO export_api_reader;

  GRANT EXECUTE ON FUNCTION daily.refresh(integer, integer) TO export_api_refresher;
  GRANT SELECT, INSERT (metric) ON daily.refresh_queue TO export_api_refresher;
  GRANT SELECT ON daily.sources TO export_api_refresher;

  GRANT SELECT (id, organization_id) ON public.brands TO export_api_keys;
  GRANT SELECT, INSERT, UPDATE (revoked_at) ON public.api_keys TO export_api_keys;

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
SELECT daily.grant_roles();
