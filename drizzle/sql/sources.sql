-- Which views of export_source each metric reads, and whether the answer or the citation dates their rows. A new
-- metric adds its rows here.
with listed (metric, source, dated_by) as (
  values
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
    ('recommended_rate', 'competitors', 'answered_at')
), removed as (
  delete from daily.sources where (metric, source) not in (select metric, source from listed)
)
insert into daily.sources (metric, source, dated_by)
select metric, source, dated_by from listed
on conflict (source, metric) do update set dated_by = excluded.dated_by;
