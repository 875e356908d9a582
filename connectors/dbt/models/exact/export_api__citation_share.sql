{{ export_api.metric_rows('citation_share') }}
