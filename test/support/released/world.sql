-- One brand with three days of everything, with fixed ids, for the statements of a release. Only columns that the
-- service will always read, so that it fits the schema of any release.
insert into organizations (id, name) values ('00000000-0000-4000-8000-000000000001', 'Released');
insert into users (id, email) values ('00000000-0000-4000-8000-000000000002', 'owner@released.example');
insert into memberships (organization_id, user_id, role)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002', 'owner');
insert into subscriptions (organization_id, plan, status)
values ('00000000-0000-4000-8000-000000000001', 'enterprise', 'active');
insert into brands (id, organization_id, name, display_name, url, site_url, created_at)
values ('00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000001', 'Acme', 'Acme Corporation',
  'acme.example', 'https://acme.example', '2026-01-01T00:00:00Z');
insert into competitors (id, brand_id, name)
values ('00000000-0000-4000-8000-000000000004', '00000000-0000-4000-8000-000000000003', 'Globex');
insert into markets (id, name) values ('00000000-0000-4000-8000-000000000005', 'A market');
insert into models (id, provider) values ('a-model', 'A provider');
insert into prompts (id, brand_id, text)
values ('00000000-0000-4000-8000-000000000006', '00000000-0000-4000-8000-000000000003', 'Which is best?');
insert into answers (id, prompt_id, model_id, market_id, answered_at)
select ('00000000-0000-4000-8001-' || lpad(day::text, 12, '0'))::uuid, '00000000-0000-4000-8000-000000000006', 'a-model',
  '00000000-0000-4000-8000-000000000005', '2026-10-01T09:00:00Z'::timestamptz + (day - 1) * interval '1 day'
from generate_series(1, 3) as day;
insert into answer_mentions (answer_id, name)
select id, name from answers cross join (values ('Acme'), ('Globex')) as said (name);
insert into citations (answer_id, url, domain, owned, recorded_at)
select id, 'https://acme.example/page', 'acme.example', true, answered_at from answers;
insert into sentiment_phrases (answer_id, polarity, confidence)
select id, polarity, 0.75 from answers cross join (values ('positive'), ('negative')) as phrase (polarity);
insert into recommendations (answer_id, competitor_id, recommended)
select answers.id, judged.competitor_id::uuid, true
from answers cross join (values (null), ('00000000-0000-4000-8000-000000000004')) as judged (competitor_id);
insert into daily.changes (brand_id, endpoint, date, rows, totals, changed_at)
select '00000000-0000-4000-8000-000000000003', endpoint, '2026-09-30', 0, totals::json, '2026-10-01T00:00:00.000001Z'
from (values
  ('sentiment', '{"positive_mentions": 0, "negative_weight": 0.0000}'),
  ('visibility', '{"total_prompts": 0, "visible_count": 0}')) as emptied (endpoint, totals);
insert into api_keys (id, organization_id, created_by, scope, label, key_hash, last_four)
values ('00000000-0000-4000-8000-000000000007', '00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002', 'export', 'Released',
  sha256(('svc_live_' || repeat('ab', 32))::bytea), 'abab');
