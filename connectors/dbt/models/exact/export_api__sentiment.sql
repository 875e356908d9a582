{{ export_api.metric_rows('sentiment') }}
