"""Models that read a table of embeddings: networks over a fixed window, for words and for labels."""
