{{ export_api.window('citation_share', 'citation_share', ['citations', 'owned_citations'], by=[]) }}
