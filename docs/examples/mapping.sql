-- Maps an existing application: each view of export_source is replaced by one over the application's tables. The
-- columns, their order and their types are those of drizzle/source/views.ts; Postgres rejects others. This
-- application has the schema `app`, soft deletes and enums. Run the file in one transaction, after `npm run migrate
-- -- --schema export_api`. Then run triggers.sql, if you may create triggers on the application's tables.

create or replace view export_source.brands as
  select uid as id, company as organization_id, label as name, public_label as display_name, host as url,
    home as site_url, sector::text as industry, other_labels as aliases, enabled as active, added as created_at
  from app.tracked_brands
  where deleted_at is null;

create or replace view export_source.competitors as
  select uid as id, brand as brand_id, label as name, other_labels as aliases, tracked as active
  from app.rivals
  where deleted_at is null;

-- Without a condition on deleted_at: answers of a deleted market or model count, and keep its name.
create or replace view export_source.markets as select uid as id, label as name from app.regions;

create or replace view export_source.models as select slug as id, vendor as provider from app.engines;

create or replace view export_source.prompts as
  select uid as id, brand as brand_id, scored as counts_in_metrics, retired_on as retired_at
  from app.questions
  where deleted_at is null;

create or replace view export_source.answers as
  select uid as id, question as prompt_id, engine as model_id, region as market_id, run_at as answered_at,
    failure as error
  from app.llm_runs
  where deleted_at is null;

create or replace view export_source.answer_mentions as
  select run as answer_id, label as name from app.named;

create or replace view export_source.citations as
  select run as answer_id, address as url, host as domain, ours as owned, seen_at as recorded_at
  from app.links
  where deleted_at is null;

create or replace view export_source.sentiment_phrases as
  select run as answer_id, mood::text as polarity, certainty as confidence from app.feelings;

create or replace view export_source.recommendations as
  select run as answer_id, rival as competitor_id, recommended from app.verdicts;

create or replace view export_source.memberships as
  select company as organization_id, person as user_id, level::text as role from app.seats;

create or replace view export_source.subscriptions as
  select company as organization_id, tier::text as plan, state::text as status from app.billing;

-- The API keys stay in our table. They belong to organizations and users of the application.
alter table export_api.api_keys
  drop constraint api_keys_organization_id_organizations_id_fk,
  drop constraint api_keys_created_by_users_id_fk,
  add foreign key (organization_id) references app.companies on delete cascade,
  add foreign key (created_by) references app.people on delete cascade;
