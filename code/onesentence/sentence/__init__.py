"""The running example of the book: one Chinese sentence, its units, analyses, target and variants."""
