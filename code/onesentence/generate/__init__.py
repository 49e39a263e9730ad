"""Generation: from distributions to text, and what a text costs."""
