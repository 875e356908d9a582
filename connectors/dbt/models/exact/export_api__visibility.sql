{{ export_api.metric_rows('visibility') }}
