{{ export_api.exact_rows('sentiment', key=['brand_id', 'date']) }}
