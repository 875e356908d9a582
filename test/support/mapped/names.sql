-- The names under which tests write raw rows, over the tables of the other application.
create view public.organizations as select uid as id, title as name, since as created_at from app.companies;
create view public.users as select uid as id, mail as email, since as created_at from app.people;
create view public.memberships as
  select company as organization_id, person as user_id, level as role, since as created_at from app.seats;
create view public.subscriptions as
  select company as organization_id, tier as plan, state as status, changed as updated_at from app.billing;
create view public.brands as
  select uid as id, company as organization_id, label as name, public_label as display_name, host as url,
    home as site_url, sector as industry, other_labels as aliases, enabled as active, added as created_at
  from app.tracked_brands;
create view public.competitors as
  select uid as id, brand as brand_id, label as name, other_labels as aliases, tracked as active, added as created_at
  from app.rivals;
create view public.markets as select uid as id, label as name from app.regions;
create view public.models as select slug as id, vendor as provider from app.engines;
create view public.prompts as
  select uid as id, brand as brand_id, wording as text, names_brand as branded, scored as counts_in_metrics,
    retired_on as retired_at
  from app.questions;
create view public.answers as
  select uid as id, question as prompt_id, engine as model_id, region as market_id, run_at as answered_at,
    failure as error
  from app.llm_runs;
create view public.answer_mentions as select run as answer_id, label as name from app.named;
create view public.citations as
  select uid as id, run as answer_id, address as url, host as domain, ours as owned, seen_at as recorded_at
  from app.links;
create view public.sentiment_phrases as
  select uid as id, run as answer_id, mood as polarity, certainty as confidence from app.feelings;
create view public.recommendations as select run as answer_id, rival as competitor_id, recommended from app.verdicts;
create view public.api_keys as select * from export_api.api_keys;

-- Tests write texts where the application has enums.
create cast (text as app.level) with inout as assignment;
create cast (text as app.tier) with inout as assignment;
create cast (text as app.mood) with inout as assignment;
