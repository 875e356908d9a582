{{ export_api.day_rows(['visibility', 'competitors', 'citations', 'citation_share', 'sentiment', 'recommended_rate']) }}
