"""A language model over a fixed window: the last k tokens and nothing else decide the next one.

    p(w_t | w_1 ... w_{t-1})  ≈  p(w_t | w_{t-k} ... w_{t-1})  =  softmax(U tanh(W z_t + b) + c)

A sentence w_1 ... w_n is read as BOS ... BOS w_1 ... w_n EOS with k times BOS: each w_t and EOS is predicted, BOS
never, PAD never. Candidates of the output are all tokens but BOS and PAD unless others are named, so `U` has one
row per candidate and may have fewer rows than `E`.

Symbols and source: see `onesentence.embed.network` (Bengio et al. 2003, JMLR 3, section 2). Losses are nats per
predicted token, EOS among them. Sections 1.6 and 1.8 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onesentence.checks import as_ids
from onesentence.embed.network import Ids, IntArray, WindowNetwork
from onesentence.embed.optim import Optimiser
from onesentence.embed.window_train import fit
from onesentence.numerics import FloatArray, log_softmax


@dataclass(frozen=True, eq=False)
class WindowLM:
    """A window network with the ids that have a part to play.

    Attributes:
        network: the parameters.
        candidates: the id that each row of `U` stands for; EOS among them, BOS and PAD not.
        bos: id that fills the window on the left.
        eos: id that ends a sentence.
        pad: id that fills batches behind the end, or None; never read and never scored.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> lm = WindowLM.initial(["BOS", "EOS", "a", "b"], window=2, embedding=2, hidden=3, rng=rng)
        >>> p = lm.distribution([2, 3])
        >>> p.shape, float(p[lm.bos]), round(float(p.sum()), 12)
        ((4,), 0.0, 1.0)
    """

    network: WindowNetwork
    candidates: tuple[int, ...]
    bos: int
    eos: int
    pad: int | None = None

    def __post_init__(self) -> None:
        rows = len(self.network.E)
        named = {"bos": self.bos, "eos": self.eos} | ({} if self.pad is None else {"pad": self.pad})
        for name, number in named.items():
            if not 0 <= number < rows:
                raise ValueError(f"{name} must lie in [0, {rows}), got {number}")
        if len(set(named.values())) < len(named):
            raise ValueError(f"bos, eos and pad must differ, got {named}")
        object.__setattr__(self, "candidates", tuple(int(i) for i in self.candidates))
        if len(self.candidates) != self.network.c.size or len(set(self.candidates)) < len(self.candidates):
            raise ValueError(f"candidates must be {self.network.c.size} different ids, got {self.candidates}")
        if not all(0 <= i < rows for i in self.candidates):
            raise ValueError(f"candidates must lie in [0, {rows}), got {self.candidates}")
        if self.eos not in self.candidates or {self.bos, self.pad} & set(self.candidates):
            raise ValueError("candidates must hold eos and neither bos nor pad")

    @classmethod
    def initial(
        cls,
        vocabulary: Sequence[str],
        *,
        window: int,
        embedding: int,
        hidden: int,
        rng: np.random.Generator,
        candidates: Iterable[str] | None = None,
        bos: str = "BOS",
        eos: str = "EOS",
        pad: str | None = None,
    ) -> WindowLM:
        """Draw an untrained model.

        Args:
            vocabulary: the tokens; a token's id is its place. BOS, EOS and PAD are among them.
            window: k, at least 1.
            embedding: d, at least 1.
            hidden: H, at least 1.
            rng: source of all randomness.
            candidates: tokens that can be predicted, EOS among them; None means all but BOS and PAD.
            bos: name of the token that fills the window on the left.
            eos: name of the token that ends a sentence.
            pad: name of the token that fills batches, or None where there is none.

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is below 1, a token stands twice, or a named one is missing.
        """
        place = {token: i for i, token in enumerate(vocabulary)}
        if len(place) < len(vocabulary):
            raise ValueError("vocabulary: a token stands twice")
        output = [t for t in vocabulary if t not in (bos, pad)] if candidates is None else list(candidates)
        for token in (bos, eos, *([] if pad is None else [pad]), *output):
            if token not in place:
                raise ValueError(f"vocabulary: expected {token!r} among the tokens")
        network = WindowNetwork.initial(
            table=len(place), window=window, embedding=embedding, hidden=hidden, outputs=len(output), rng=rng
        )
        return cls(
            network=network,
            candidates=tuple(place[t] for t in output),
            bos=place[bos],
            eos=place[eos],
            pad=None if pad is None else place[pad],
        )

    @property
    def window(self) -> int:
        """k, how many tokens are read at once."""
        return self.network.window

    def window_of(self, context: Ids) -> IntArray:
        """Return the k ids that are read: the last k of the context, with BOS on the left where it is short.

        Args:
            context: ids of what stands before the token to predict; may be empty.

        Returns:
            Shape (k,).

        Raises:
            TypeError: if the ids are not integers.
            ValueError: if an id lies outside the table, anywhere in the context, or is EOS or PAD.
        """
        ids = self._checked("context", context)
        return np.concatenate([np.full(self.window, self.bos), ids])[-self.window :]

    def distribution(self, context: Ids) -> FloatArray:
        """Return the probability of each token of the vocabulary as the next one.

        Args:
            context: ids of what stands before; may be empty.

        Returns:
            Shape (V,), sum 1; 0 for tokens that are no candidates.

        Raises:
            TypeError: if the ids are not integers.
            ValueError: if an id lies outside the table or is EOS or PAD.
        """
        probabilities = np.zeros(len(self.network.E))
        probabilities[list(self.candidates)] = self.network.forward(self.window_of(context)[None]).p[0]
        return probabilities

    def prob(self, token: int, context: Ids) -> float:
        """Return the probability of one token after a context; 0 for a token that is no candidate.

        Args:
            token: its id.
            context: ids of what stands before; may be empty.

        Raises:
            TypeError: if the ids are not integers.
            ValueError: if an id lies outside the table, or the context holds EOS or PAD.
        """
        if not 0 <= token < len(self.network.E):
            raise ValueError(f"token must lie in [0, {len(self.network.E)}), got {token}")
        return float(self.distribution(context)[token])

    def examples(self, sentences: Iterable[Ids]) -> tuple[IntArray, IntArray]:
        """Return every window of the sentences and the row of `U` of what follows it.

        Args:
            sentences: ids without BOS and EOS; PAD may stand behind the end and is dropped.

        Returns:
            Windows (N, k) and rows (N,), with N the number of tokens and one EOS per sentence.

        Raises:
            TypeError: if ids are not integers.
            ValueError: without any sentence, for an id outside the table, BOS, EOS or PAD inside a sentence, or
                a token that is no candidate.
        """
        row = {token: i for i, token in enumerate(self.candidates)}
        windows: list[IntArray] = []
        targets: list[int] = []
        for sentence in sentences:
            ids = self._checked("sentences", self._unpadded(sentence))
            if self.bos in ids:
                raise ValueError("sentences: BOS is added by the model and may not stand in a sentence")
            read = np.concatenate([np.full(self.window, self.bos), ids])
            windows.extend(np.lib.stride_tricks.sliding_window_view(read, self.window))
            for token in (*ids.tolist(), self.eos):
                if token not in row:
                    raise ValueError(f"sentences: token {token} is no candidate of the output")
                targets.append(row[token])
        if not targets:
            raise ValueError("sentences: expected at least one, got none")
        return np.stack(windows), np.array(targets)

    def log_prob_sentence(self, sentence: Ids) -> float:
        """Return log p(w_1 ... w_n EOS) in nats.

        Args:
            sentence: ids without BOS and EOS; may be empty.

        Raises:
            TypeError, ValueError: as `examples`.
        """
        windows, targets = self.examples([sentence])
        return float(np.take_along_axis(self._log_p(windows), targets[:, None], axis=1).sum())

    def perplexity(self, sentences: Iterable[Ids]) -> float:
        """Return exp of the mean loss per predicted token, EOS counted.

        Args:
            sentences: ids without BOS and EOS.

        Raises:
            TypeError, ValueError: as `examples`.
        """
        return float(np.exp(self.network.loss(*self.examples(sentences))))

    def trained(
        self,
        sentences: Iterable[Ids],
        *,
        optimiser: Optimiser,
        epochs: int,
        batch: int,
        rng: np.random.Generator,
    ) -> tuple[WindowLM, list[float]]:
        """Return a trained copy and the loss of each epoch, in nats per token; see `window_train.fit`.

        Args:
            sentences: ids without BOS and EOS, at least one sentence.
            optimiser: a fresh one.
            epochs: passes over the sentences.
            batch: windows per step.
            rng: source of the shuffling.

        Raises:
            TypeError, ValueError: as `examples` and `fit`.
        """
        windows, targets = self.examples(sentences)
        network, losses = fit(
            self.network, windows, targets, optimiser=optimiser, epochs=epochs, batch=batch, rng=rng
        )
        return replace(self, network=network), losses

    def _log_p(self, windows: IntArray) -> FloatArray:
        return log_softmax(self.network.forward(windows).a)

    def _unpadded(self, sentence: Ids) -> Ids:
        end = len(sentence)
        while self.pad is not None and end and sentence[end - 1] == self.pad:
            end -= 1
        return sentence[:end]

    def _checked(self, name: str, value: Ids) -> IntArray:
        ids = as_ids(name, value)
        rows = len(self.network.E)
        if ids.ndim != 1:
            raise ValueError(f"{name} must be a sequence of ids, got shape {ids.shape}")
        if ids.size and not (ids.min() >= 0 and ids.max() < rows):
            raise ValueError(f"{name} must lie in [0, {rows}), got {ids.tolist()}")
        for what, forbidden in (("EOS", self.eos), ("PAD", self.pad)):
            if forbidden is not None and forbidden in ids:
                raise ValueError(f"{name}: {what} ends a sentence and may not stand inside it")
        return ids
