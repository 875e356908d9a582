-- Another application: other names, enums, soft deletes, its own words for everything.
create schema app;
create type app.level as enum ('owner', 'admin', 'member');
create type app.tier as enum ('lite', 'pro', 'agency', 'enterprise');
create type app.mood as enum ('positive', 'neutral', 'negative');

create table app.companies (
  uid uuid primary key default gen_random_uuid(),
  title varchar(300) not null,
  since timestamptz not null default now()
);
create table app.people (
  uid uuid primary key default gen_random_uuid(),
  mail text not null unique,
  since timestamptz not null default now()
);
create table app.seats (
  company uuid not null references app.companies on delete cascade,
  person uuid not null references app.people on delete cascade,
  level app.level not null,
  since timestamptz not null default now(),
  primary key (company, person)
);
create table app.billing (
  company uuid primary key references app.companies on delete cascade,
  tier app.tier not null,
  state varchar(20) not null,
  changed timestamptz not null default now()
);
create table app.tracked_brands (
  uid uuid primary key default gen_random_uuid(),
  company uuid not null references app.companies on delete cascade,
  label text not null,
  public_label text not null,
  host text not null,
  home text not null,
  sector varchar(200),
  other_labels text[] not null default '{}',
  enabled boolean not null default true,
  added timestamptz not null default now(),
  deleted_at timestamptz
);
create table app.rivals (
  uid uuid primary key default gen_random_uuid(),
  brand uuid not null references app.tracked_brands on delete cascade,
  label text not null,
  other_labels text[] not null default '{}',
  tracked boolean not null default true,
  added timestamptz not null default now(),
  deleted_at timestamptz,
  unique (brand, label)
);
create table app.regions (uid uuid primary key default gen_random_uuid(), label text not null, deleted_at timestamptz);
create table app.engines (slug text primary key, vendor text not null, deleted_at timestamptz);
create table app.questions (
  uid uuid primary key default gen_random_uuid(),
  brand uuid not null references app.tracked_brands on delete cascade,
  wording text not null,
  names_brand boolean not null default false,
  scored boolean not null default true,
  retired_on timestamptz,
  deleted_at timestamptz
);
create table app.llm_runs (
  uid uuid primary key default gen_random_uuid(),
  question uuid not null references app.questions on delete cascade,
  engine text not null references app.engines,
  region uuid not null references app.regions,
  run_at timestamptz not null,
  failure text,
  milliseconds integer,
  deleted_at timestamptz
);
create table app.named (
  run uuid not null references app.llm_runs on delete cascade,
  label text not null,
  primary key (run, label)
);
create table app.links (
  uid uuid primary key default gen_random_uuid(),
  run uuid not null references app.llm_runs on delete cascade,
  address text not null,
  host text,
  ours boolean not null,
  seen_at timestamptz not null,
  deleted_at timestamptz
);
create table app.feelings (
  uid uuid primary key default gen_random_uuid(),
  run uuid not null references app.llm_runs on delete cascade,
  mood app.mood not null,
  certainty numeric(5, 4) not null
);
create table app.verdicts (
  run uuid not null references app.llm_runs on delete cascade,
  rival uuid references app.rivals on delete cascade,
  recommended boolean not null,
  unique nulls not distinct (run, rival)
);
create index on app.tracked_brands (company);
create index on app.questions (brand);
create index on app.llm_runs (question, ((run_at at time zone 'UTC')::date));
create index on app.links (run);
create index on app.links (((seen_at at time zone 'UTC')::date), run);
create index on app.feelings (run);
