{{ export_api.exact_rows('brands', key=['id']) }}
