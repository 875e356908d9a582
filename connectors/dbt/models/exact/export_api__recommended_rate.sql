{{ export_api.metric_rows('recommended_rate') }}
