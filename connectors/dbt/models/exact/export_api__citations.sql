{{ export_api.exact_rows('citations', key=['brand_id', 'date', 'url']) }}
