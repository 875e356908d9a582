{{ export_api.monthly('visibility', 'visibility_rate', ['total_prompts', 'visible_count'], by=['model_id']) }}
