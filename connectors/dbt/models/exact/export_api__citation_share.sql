{{ export_api.exact_rows('citation_share', key=['brand_id', 'date', 'url']) }}
