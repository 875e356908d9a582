{{ export_api.brand_rows() }}
