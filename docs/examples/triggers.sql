-- Triggers on the tables of the application of mapping.sql note every change of them. Where there can be none, this is
-- left out: the last days are then computed anew, as many as `daily.rolling_window` says. In one transaction as well.

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
