"""The network over a fixed window of k tokens: one hidden layer on top of concatenated embeddings.

    z = [E[i_1]; ...; E[i_k]]      concatenation    (N, k d)
    h = tanh(W z + b)              hidden layer     (N, H)
    a = U h + c                    logits           (N, C)
    p = softmax(a)                 probabilities    (N, C)

Symbols: `N` examples, `k` window, `V` rows of the embedding table, `d` embedding width, `H` hidden width, `C`
candidates of the output (words for a language model, labels for a tagger). Rows of `z`, `h`, `a` are examples,
so the code multiplies with the transposed matrices. `E` (V, d), `W` (H, k d), `b` (H,), `U` (C, H), `c` (C,).

Source: Bengio et al. 2003, JMLR 3, section 2, y = b + W x + U tanh(d + H x). Differences: no direct connection
from x to the output (their W = 0), the oldest token first in z, and no weight decay. Section 1.6 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import as_ids, checked_sizes
from onesentence.numerics import FloatArray, as_floats, log_softmax, softmax

IntArray = NDArray[np.int64]
Ids = Sequence[int] | IntArray
"""Ids of a sentence, T of them."""


@dataclass(frozen=True, eq=False)
class Pass:
    """What one forward pass computed, row by row of the examples.

    Attributes:
        ids: token ids of the windows, (N, k).
        z: concatenated embeddings, (N, k d).
        h: hidden layer, (N, H).
        a: logits, (N, C).
        p: probabilities, (N, C); each row sums to 1.
    """

    ids: IntArray
    z: FloatArray
    h: FloatArray
    a: FloatArray
    p: FloatArray


@dataclass(frozen=True, eq=False)
class WindowNetwork:
    """The five parameters, float64; the window k is read off the widths of `W` and `E`.

    The arrays are copies of those given. An optimiser may change them in place.

    Attributes:
        E: embedding table, (V, d).
        W: weights of the hidden layer, (H, k d).
        b: its bias, (H,).
        U: weights of the output, (C, H).
        c: its bias, (C,).

    Example:
        >>> net = WindowNetwork(E=[[1.0], [2.0]], W=[[1.0, -1.0]], b=[1.0], U=[[1.0], [0.0]], c=[0.0, 0.0])
        >>> net.window, net.size
        (2, 9)
        >>> net.forward([[0, 1]]).p.tolist()  # tanh(1 - 2 + 1) = 0
        [[0.5, 0.5]]
    """

    E: FloatArray
    W: FloatArray
    b: FloatArray
    U: FloatArray
    c: FloatArray

    def __post_init__(self) -> None:
        for name in ("E", "W", "b", "U", "c"):
            array = as_floats(name, getattr(self, name)).astype(np.float64)  # a copy
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite, got NaN or infinity in shape {array.shape}")
            object.__setattr__(self, name, array)
        if self.E.ndim != 2 or 0 in self.E.shape:
            raise ValueError(f"E must have shape (V, d) with V, d >= 1, got {self.E.shape}")
        if self.W.ndim != 2 or 0 in self.W.shape or self.W.shape[1] % self.E.shape[1]:
            d = self.E.shape[1]
            raise ValueError(f"W must have shape (H, k d) with H, k >= 1 and d = {d}, got {self.W.shape}")
        if self.b.shape != self.W.shape[:1]:
            raise ValueError(f"b must have shape {self.W.shape[:1]}, got {self.b.shape}")
        if self.U.ndim != 2 or self.U.shape[0] == 0 or self.U.shape[1] != self.b.size:
            raise ValueError(f"U must have shape (C, {self.b.size}) with C >= 1, got {self.U.shape}")
        if self.c.shape != self.U.shape[:1]:
            raise ValueError(f"c must have shape {self.U.shape[:1]}, got {self.c.shape}")

    @classmethod
    def initial(
        cls, *, table: int, window: int, embedding: int, hidden: int, outputs: int, rng: np.random.Generator
    ) -> WindowNetwork:
        """Draw a network: E and the biases small or zero, W and U with variance 1 over their inputs.

        Args:
            table: V, rows of the embedding table.
            window: k, tokens read at once.
            embedding: d, width of a row.
            hidden: H.
            outputs: C, candidates.
            rng: source of all randomness.

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is less than 1.

        Example:
            >>> sizes = dict(table=8, window=2, embedding=2, hidden=3, outputs=5)
            >>> net = WindowNetwork.initial(**sizes, rng=np.random.default_rng(0))
            >>> {name: array.shape for name, array in net.parameters().items()}
            {'E': (8, 2), 'W': (3, 4), 'b': (3,), 'U': (5, 3), 'c': (5,)}
        """
        checked_sizes(rng, table=table, window=window, embedding=embedding, hidden=hidden, outputs=outputs)
        width = window * embedding
        return cls(
            E=rng.normal(size=(table, embedding)),
            W=rng.normal(size=(hidden, width)) / np.sqrt(width),
            b=np.zeros(hidden),
            U=rng.normal(size=(outputs, hidden)) / np.sqrt(hidden),
            c=np.zeros(outputs),
        )

    @property
    def window(self) -> int:
        """k, how many tokens the network reads at once."""
        return int(self.W.shape[1] // self.E.shape[1])

    @property
    def size(self) -> int:
        """How many numbers are trained."""
        return sum(array.size for array in self.parameters().values())

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {name: getattr(self, name) for name in ("E", "W", "b", "U", "c")}

    def forward(self, ids: ArrayLike) -> Pass:
        """Run the network on N windows.

        Args:
            ids: token ids, (N, k), each in [0, V).

        Returns:
            Every layer, N rows each.

        Raises:
            TypeError: if `ids` does not hold integers.
            ValueError: if its shape is not (N, k), or an id lies outside the table.
        """
        windows = self._checked_ids(ids)
        z = self.E[windows].reshape(len(windows), self.W.shape[1])
        h = np.tanh(z @ self.W.T + self.b)
        a = h @ self.U.T + self.c
        return Pass(windows, z, h, a, softmax(a, axis=-1))

    def loss(self, ids: ArrayLike, targets: ArrayLike) -> float:
        """Return the mean of -log p[target] over N windows, in nats.

        Args:
            ids: (N, k), N >= 1.
            targets: rows of the output, (N,), each in [0, C).

        Raises:
            TypeError: if `ids` or `targets` does not hold integers.
            ValueError: for wrong shapes, no window at all, or numbers outside their range.
        """
        done = self.forward(ids)
        labels = self._checked_targets(targets, len(done.ids))
        return -float(np.take_along_axis(log_softmax(done.a), labels[:, None], axis=1).mean())

    def gradients(self, ids: ArrayLike, targets: ArrayLike) -> tuple[float, dict[str, FloatArray]]:
        """Return the loss and its gradient with respect to every parameter.

        Args:
            ids: (N, k), N >= 1.
            targets: rows of the output, (N,), each in [0, C).

        Returns:
            The loss in nats, and name to gradient. A token that stands in several windows, or twice in one,
            adds up in its one row of E; a row that no window reads has gradient 0.

        Raises:
            TypeError: if `ids` or `targets` does not hold integers.
            ValueError: for wrong shapes, no window at all, or numbers outside their range.
        """
        done = self.forward(ids)
        n = len(done.ids)
        labels = self._checked_targets(targets, n)
        rows = np.arange(n)
        da = done.p.copy()
        da[rows, labels] -= 1
        da /= n  # (N, C), the gradient of the mean loss with respect to a
        dpre = (da @ self.U) * (1 - done.h**2)  # (N, H), through tanh
        dE = np.zeros_like(self.E)
        np.add.at(dE, done.ids, (dpre @ self.W).reshape(n, self.window, self.E.shape[1]))
        gradients = {
            "E": dE,
            "W": dpre.T @ done.z,
            "b": dpre.sum(axis=0),
            "U": da.T @ done.h,
            "c": da.sum(axis=0),
        }
        return -float(log_softmax(done.a)[rows, labels].mean()), gradients

    def _checked_ids(self, ids: ArrayLike) -> IntArray:
        windows = as_ids("ids", ids, len(self.E))
        if windows.ndim != 2 or windows.shape[1] != self.window:
            raise ValueError(f"ids must have shape (N, {self.window}), got {windows.shape}")
        return windows

    def _checked_targets(self, targets: ArrayLike, n: int) -> IntArray:
        if n == 0:
            raise ValueError("ids must hold at least one window, got none")
        labels = as_ids("targets", targets, self.c.size)
        if labels.shape != (n,):
            raise ValueError(f"targets must have shape ({n},), got {labels.shape}")
        return labels
