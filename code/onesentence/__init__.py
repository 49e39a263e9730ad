"""One Sentence: the models, kernels, experiments and evidence behind the book.

Subpackages are named by topic, never by chapter; `CONTRIBUTING.md` shows the direction of imports. Importing
this package imports none of them, so that a page pays only for what it uses.
"""

__version__ = "0.1.0"
