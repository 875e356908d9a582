{{ export_api.monthly('citation_share', 'citation_share', ['citations', 'owned_citations'], by=[]) }}
