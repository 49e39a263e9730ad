"""A message in two scripts cut by hand, and generated sentences about lending: texts for comparing codings.

Everything is invented for teaching (identity `constructed`): the drug Zelquavir does not exist, and the hand-made
cuts are no tokenizer's output. The sentences come from one template; held-out ones may hold a word that training
sentences never have, built from parts that they do have, as new words mostly are. Sections 1.9, 1.11 and 1.13 of
the course.
"""

from __future__ import annotations

import numpy as np

MESSAGE = "慕容芷岚问：Zelquavir能和aspirin同服吗？"
CUTS: dict[str, tuple[str, ...]] = {
    "词": ("慕容芷岚", "问", "：", "Zelquavir", "能", "和", "aspirin", "同服", "吗", "？"),
    "子词": (
        "慕容",
        "芷",
        "岚",
        "问",
        "：",
        "Zel",
        "qua",
        "vir",
        "能",
        "和",
        "aspirin",
        "同",
        "服",
        "吗",
        "？",
    ),
    "字符": tuple(MESSAGE),
}
"""Three cuts by hand. Case stays, punctuation stands alone, nothing is added for spaces: there are none."""

_SLOTS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (  # what training has, what only held-out has
    (("Anna", "Ben", "Clara", "David", "Emma"), ("Benedict", "Annabel")),
    (("gave", "lent", "sold", "showed", "mailed", "returned"), ("resold", "remailed")),
    (("me", "him", "her", "us", "them"), ("themselves", "herself")),
    (("old", "older", "new", "newest", "thick", "thin", "cheap"), ("oldest", "newer", "thicker")),
    (("book", "letter", "novel", "notebook", "newspaper", "shelf", "map"), ("bookshelf", "newsletter")),
    (("yesterday", "today", "tonight", "last week", "on Monday", "on Friday"), ("on Saturday",)),
)


def lending_sentences(number: int, *, seed: int, unseen: float = 0.0) -> tuple[str, ...]:
    """Return sentences like `Anna lent him the old book tonight .`, tokens apart by single spaces.

    Args:
        number: how many.
        seed: of the generator.
        unseen: the chance that one of a sentence's words is one that sentences with 0.0 never hold.

    Raises:
        ValueError: if the number is negative or the chance not between 0 and 1.

    Example:
        >>> lending_sentences(2, seed=3)
        ('Emma gave me the older letter on Monday .', 'Anna gave him the newest newspaper tonight .')
    """
    if number < 0:
        raise ValueError(f"number: expected at least 0, got {number}")
    if not 0 <= unseen <= 1:
        raise ValueError(f"unseen: expected 0 to 1, got {unseen}")
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(number):
        words = [str(rng.choice(known)) for known, _ in _SLOTS]
        if rng.random() < unseen:
            slot = int(rng.integers(len(_SLOTS)))
            words[slot] = str(rng.choice(_SLOTS[slot][1]))
        giver, verb, recipient, kind, thing, time = words
        sentences.append(f"{giver} {verb} {recipient} the {kind} {thing} {time} .")
    return tuple(sentences)
