{{ export_api.metric_rows('citations') }}
