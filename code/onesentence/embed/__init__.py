"""Vectors for words: tables, word2vec and fixed-window networks."""
