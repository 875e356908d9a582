{{ export_api.window('competitors', 'competitor_visibility_rate', ['total_responses', 'competitor_visible_responses'], by=['competitor_name']) }}
