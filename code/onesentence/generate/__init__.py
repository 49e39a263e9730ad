"""What a model of the next token is trained on and judged by, and how it writes a text: shift, loss, loop, sampling."""
