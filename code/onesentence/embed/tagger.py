"""A tagger over a window: each position gets a label from its neighbours' embeddings, each on its own.

The window of 2r + 1 tokens is centred; where it reaches over the border of the sentence, PAD is read. Labels follow
BIO: B-X begins an entity of type X, I-X goes on with it, O is outside. Since every position is decided alone, the
labels together may be no BIO sequence at all: an I-X with nothing to go on with. Such places are counted, not
mended.

Symbols: see `onesentence.embed.network`; `T` positions, `L` labels, `r` radius. Source: Collobert et al. 2011, JMLR
12, section 3.2.1 (window approach). Differences: tanh instead of HardTanh, one embedding table and no features.
Sections 1.6 and 5.6 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from onesentence.checks import as_ids
from onesentence.embed.network import Ids, IntArray, WindowNetwork
from onesentence.embed.optim import Optimiser
from onesentence.embed.window_train import fit
from onesentence.numerics import FloatArray
from onesentence.text.entities import Span

PERSON_LABELS: tuple[str, ...] = ("O", "B-PER", "I-PER")
"""Labels of BIO for persons alone."""


@dataclass(frozen=True, eq=False)
class WindowTagger:
    """A window network whose output rows are labels.

    Attributes:
        network: the parameters; its window is odd.
        labels: the label that each row of `U` stands for.
        pad: id that is read beyond the borders.

    Example:
        >>> tagger = WindowTagger.initial(
        ...     ["PAD", "UNK", "李", "华"], PERSON_LABELS, radius=2, embedding=2, hidden=3,
        ...     rng=np.random.default_rng(0),
        ... )
        >>> tagger.network.W.shape, tagger.windows([2, 3]).tolist()
        ((3, 10), [[0, 0, 2, 3, 0], [0, 2, 3, 0, 0]])
    """

    network: WindowNetwork
    labels: tuple[str, ...]
    pad: int

    def __post_init__(self) -> None:
        if self.network.window % 2 == 0:
            raise ValueError(f"network must have an odd window, got {self.network.window}")
        if len(self.labels) != self.network.c.size or len(set(self.labels)) < len(self.labels):
            raise ValueError(f"labels must be {self.network.c.size} different labels, got {self.labels}")
        for label in self.labels:
            _parts(label)
        if not 0 <= self.pad < len(self.network.E):
            raise ValueError(f"pad must lie in [0, {len(self.network.E)}), got {self.pad}")

    @classmethod
    def initial(
        cls,
        vocabulary: Sequence[str],
        labels: Sequence[str],
        *,
        radius: int,
        embedding: int,
        hidden: int,
        rng: np.random.Generator,
        pad: str = "PAD",
    ) -> WindowTagger:
        """Draw an untrained tagger.

        Args:
            vocabulary: the tokens; a token's id is its place. PAD is among them.
            labels: the labels.
            radius: r, neighbours read on each side; 0 reads the token alone.
            embedding: d, at least 1.
            hidden: H, at least 1.
            rng: source of all randomness.
            pad: name of the token read beyond the borders.

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is too small, `pad` is no token, or a label is not BIO.
        """
        if pad not in vocabulary:
            raise ValueError(f"vocabulary: expected {pad!r} among the tokens")
        if radius < 0:
            raise ValueError(f"radius must be at least 0, got {radius}")
        network = WindowNetwork.initial(
            table=len(vocabulary),
            window=2 * radius + 1,
            embedding=embedding,
            hidden=hidden,
            outputs=len(labels),
            rng=rng,
        )
        return cls(network, tuple(labels), list(vocabulary).index(pad))

    @property
    def radius(self) -> int:
        """r, neighbours read on each side."""
        return self.network.window // 2

    def windows(self, sentence: Ids) -> IntArray:
        """Return the window around each position, (T, 2r + 1).

        Args:
            sentence: token ids, (T,), T >= 1.

        Raises:
            TypeError: if they are not integers.
            ValueError: if the sentence is empty, not a sequence of ids, or holds PAD.
        """
        ids = as_ids("sentence", sentence)
        if ids.ndim != 1 or ids.size == 0:
            raise ValueError(f"sentence must hold at least one id, got shape {ids.shape}")
        if self.pad in ids:
            raise ValueError("sentence: PAD stands beyond the borders and may not stand inside")
        border = np.full(self.radius, self.pad)
        read = np.concatenate([border, ids, border])
        return np.lib.stride_tricks.sliding_window_view(read, self.network.window)

    def probabilities(self, sentence: Ids) -> FloatArray:
        """Return the probability of each label at each position, (T, L); each row sums to 1.

        Raises:
            TypeError, ValueError: as `windows`, or an id outside the table.
        """
        return self.network.forward(self.windows(sentence)).p

    def tag(self, sentence: Ids) -> tuple[str, ...]:
        """Return the most probable label of each position, decided position by position.

        Raises:
            TypeError, ValueError: as `windows`, or an id outside the table.
        """
        return tuple(self.labels[row] for row in self.probabilities(sentence).argmax(axis=1))

    def examples(
        self, sentences: Iterable[Ids], labels: Iterable[Sequence[str]]
    ) -> tuple[IntArray, IntArray]:
        """Return every window of the sentences and the row of `U` of its label.

        Raises:
            TypeError: if ids are not integers.
            ValueError: without any sentence, where ids and labels differ in number, or for an unknown label.
        """
        row = {label: i for i, label in enumerate(self.labels)}
        windows: list[IntArray] = []
        targets: list[int] = []
        for ids, names in zip(sentences, labels, strict=True):
            if len(ids) != len(names):
                raise ValueError(f"labels must have one label per id, got {len(names)} for {len(ids)}")
            windows.append(self.windows(ids))
            for name in names:
                if name not in row:
                    raise ValueError(f"labels must be among {self.labels}, got {name!r}")
                targets.append(row[name])
        if not windows:
            raise ValueError("sentences: expected at least one, got none")
        return np.concatenate(windows), np.array(targets)

    def trained(
        self,
        sentences: Iterable[Ids],
        labels: Iterable[Sequence[str]],
        *,
        optimiser: Optimiser,
        epochs: int,
        batch: int,
        rng: np.random.Generator,
    ) -> tuple[WindowTagger, list[float]]:
        """Return a trained copy and the loss of each epoch, in nats per position; see `window_train.fit`.

        Raises:
            TypeError, ValueError: as `examples` and `fit`.
        """
        windows, targets = self.examples(sentences, labels)
        network, losses = fit(
            self.network, windows, targets, optimiser=optimiser, epochs=epochs, batch=batch, rng=rng
        )
        return replace(self, network=network), losses


def illegal_transitions(labels: Sequence[str]) -> list[int]:
    """Return the positions whose I-X has nothing to go on with: at the start, after O, or after another type.

    Args:
        labels: labels of BIO, one per position.

    Raises:
        ValueError: for a label that is not O, B-X or I-X.

    Example:
        >>> illegal_transitions(["B-PER", "I-PER", "O", "I-PER"])
        [3]
        >>> illegal_transitions(["I-PER", "I-LOC", "I-LOC"])
        [0, 1]
    """
    steps = enumerate(pairwise(["O", *labels]))
    return [at for at, (before, now) in steps if not _may_follow(before, now)]


def bio_spans(labels: Sequence[str], *, orphan: Literal["drop", "open"]) -> tuple[Span, ...]:
    """Return the entities that BIO labels name.

    What an illegal sequence names is a convention: an I-X with nothing to go on with is left out with its own
    continuation (`drop`), or taken as if it were B-X (`open`). For legal labels both give the same.

    Args:
        labels: labels of BIO, one per position.
        orphan: the convention.

    Returns:
        Spans in positions, end exclusive, sorted.

    Raises:
        ValueError: for a label that is not O, B-X or I-X, or another convention.

    Example:
        >>> labels = ["I-PER", "I-PER", "O", "B-PER"]
        >>> [len(bio_spans(labels, orphan=how)) for how in ("drop", "open")]
        [1, 2]
    """
    if orphan not in ("drop", "open"):
        raise ValueError(f"orphan must be 'drop' or 'open', got {orphan!r}")
    wrong = set(illegal_transitions(labels))
    spans: list[Span] = []
    start: int | None = None
    for at, label in enumerate([*labels, "O"]):
        begins = label.startswith("B-") or (at in wrong and orphan == "open")
        if start is not None and (begins or at in wrong or label == "O"):
            spans.append(Span(start, at, _parts(labels[start])[1]))
            start = None
        if begins:
            start = at
    return tuple(spans)


def _may_follow(before: str, now: str) -> bool:
    prefix, kind = _parts(now)
    return prefix != "I" or _parts(before)[1] == kind


def _parts(label: str) -> tuple[str, str]:
    """Return prefix and type of a label; the type of O is empty."""
    prefix, dash, kind = label.partition("-")
    if label == "O" or (prefix in ("B", "I") and dash and kind):
        return prefix, kind
    raise ValueError(f"labels must be O, B-X or I-X, got {label!r}")
