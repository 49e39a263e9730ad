"""What a beam search over a tree made of a text that it did not return: failures whose scores are known by hand.

The probabilities of a tree are written down, so one knows of every pair of texts which the model prefers, and of every
width whether the search must miss the better one. A tree reads no source; nothing can be said of one.

A construction of this book, for `seq2seq.diagnosis`.
"""

from __future__ import annotations

from onesentence.generate.beam_plain import beam_search_plain
from onesentence.generate.exhaustive import score_text
from onesentence.generate.hypotheses import follow
from onesentence.generate.tree import Tree
from onesentence.seq2seq.observed import Observations

NO_SOURCE = ("源",)


def searched(tree: Tree, target: str, width: int) -> Observations:
    """Search a tree, score both what was returned and what was wanted, and follow the latter through the rounds.

    Args:
        tree: the model.
        target: the text that was wanted, tokens apart by spaces, EOS at the end.
        width: of the beam, without a length penalty.

    Raises:
        ValueError: if the search returns the target, or a token is none of the tree's.

    Example:
        >>> seen = searched(Tree.closed({"": {"A": 0.6, "B": 0.4}, "A": {"a": 0.5, "b": 0.5}}), "B EOS", width=1)
        >>> seen.beam, [round(x, 4) for x in seen.log_p]
        (('pruned',), [-0.9163, -1.204])
    """
    model = tree.model()
    found = beam_search_plain(**model, width=width, record=True)
    right, wrote = tree.ids(target), found.best.ids
    ends = {"bos": model["bos"], "eos": model["eos"]}
    log_p = tuple(score_text(model["step"], model["state"], ids, **ends).log_prob for ids in (right, wrote))
    fates = tuple(candidate.fate for candidate in follow(found, right))
    return Observations(NO_SOURCE, right, wrote, log_p=(log_p[0], log_p[1]), beam=fates)
