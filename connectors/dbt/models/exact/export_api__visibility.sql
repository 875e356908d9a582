{{ export_api.exact_rows('visibility', key=['brand_id', 'date', 'model_id', 'market_id']) }}
