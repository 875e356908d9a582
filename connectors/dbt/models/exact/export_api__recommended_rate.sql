{{ export_api.exact_rows('recommended_rate', key=['brand_id', 'date', 'is_brand', 'entity_name']) }}
