{{ export_api.monthly('sentiment', 'sentiment_score', ['positive_mentions', 'neutral_mentions', 'negative_mentions', 'positive_weight', 'negative_weight'], by=[]) }}
