{{ export_api.monthly('recommended_rate', 'recommended_rate', ['judged_answers'], by=['is_brand', 'entity_name']) }}
