-- Tracks every change of the application of mapping.sql with triggers. Where you cannot create triggers, skip this
-- file: each refresh then recomputes the most recent days, as many as daily.rolling_window says. Run it in one
-- transaction.

select daily.install_triggers('app.tracked_brands', 'brands');
select daily.install_triggers('app.rivals', 'competitors');
select daily.install_triggers('app.regions', 'markets');
select daily.install_triggers('app.engines', 'models');
select daily.install_triggers('app.questions', 'prompts');
select daily.install_triggers('app.llm_runs', 'answers');
select daily.install_triggers('app.named', 'answer_mentions');
select daily.install_triggers('app.links', 'citations');
select daily.install_triggers('app.feelings', 'sentiment_phrases');
select daily.install_triggers('app.verdicts', 'recommendations');
delete from daily.rolling_window;
