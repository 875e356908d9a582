{{ export_api.window('visibility', 'visibility_rate', ['total_prompts', 'visible_count'], by=[]) }}
