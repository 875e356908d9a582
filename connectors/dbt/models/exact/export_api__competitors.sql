{{ export_api.metric_rows('competitors') }}
