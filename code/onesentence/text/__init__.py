"""Text before any network: units, entities, vocabularies, corpora, counts and co-occurrence."""
