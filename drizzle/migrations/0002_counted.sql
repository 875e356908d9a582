CREATE VIEW "metrics"."counted_answers" AS (
    select
      answers.id as answer_id,
      prompts.brand_id,
      (answers.answered_at at time zone 'UTC')::date as date,
      answers.model_id,
      answers.market_id
    from public.answers
    join public.prompts on prompts.id = answers.prompt_id
    where answers.error is null
      and prompts.retired_at is null
      and prompts.counts_in_metrics
  );--> statement-breakpoint
CREATE VIEW "metrics"."brand_names" AS (
    select brands.id as brand_id, array_agg(metrics.fold(known.name)) as names
    from public.brands
    cross join unnest(array[brands.name, brands.display_name] || brands.aliases) as known(name)
    group by brands.id
  );--> statement-breakpoint
CREATE VIEW "metrics"."competitor_names" AS (
    select
      competitors.id as competitor_id,
      competitors.brand_id,
      competitors.name,
      array_agg(metrics.fold(known.name)) as names
    from public.competitors
    cross join unnest(array[competitors.name] || competitors.aliases) as known(name)
    where competitors.active
    group by competitors.id
  );