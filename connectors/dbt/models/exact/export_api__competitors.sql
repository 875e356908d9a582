{{ export_api.exact_rows('competitors', key=['brand_id', 'date', 'competitor_name']) }}
