-- Triggers on the tables of the application of mapping.sql note every change of them. Where there can be none, this is
-- left out: the last days are then computed anew, as many as `daily.trailing` says. In one transaction as well.

select daily.capture('app.tracked_brands', 'brands');
select daily.capture('app.rivals', 'competitors');
select daily.capture('app.regions', 'markets');
select daily.capture('app.engines', 'models');
select daily.capture('app.questions', 'prompts');
select daily.capture('app.llm_runs', 'answers');
select daily.capture('app.named', 'answer_mentions');
select daily.capture('app.links', 'citations');
select daily.capture('app.feelings', 'sentiment_phrases');
select daily.capture('app.verdicts', 'recommendations');
delete from daily.trailing;
