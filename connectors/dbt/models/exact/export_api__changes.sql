{{ export_api.exact_rows('changes', key=['brand_id', 'endpoint', 'date']) }}
