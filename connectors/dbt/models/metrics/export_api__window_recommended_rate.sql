{{ export_api.window('recommended_rate', 'recommended_rate', ['judged_answers'], by=['is_brand', 'entity_name']) }}
