"""A small model for experiments: embedding table, something recurrent, a linear head at every position. NumPy.

    x_t = E[i_t]      h = recurrent(x)      a_t = W_y h_t + b_y      L = sum of -log softmax(a_t)[label_t] where it counts

The recurrent part is a cell or two of them, `Bidirectional`; nothing here knows which. `E` (V, d), `W_y` (C, H),
`b_y` (C,). Gradients by hand: those of the recurrent part are its own `backward`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesentence.embed.optim import Optimiser
from onesentence.numerics import FloatArray, token_loss_gradients, token_losses
from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.cell import Cell


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences padded on the right.

    Attributes:
        ids: inputs, (B, T).
        labels: (B, T); looked at where `counted` is True.
        real: True at real tokens, (B, T).
        counted: True where the loss counts, (B, T).
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    real: NDArray[np.bool_]
    counted: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reader:
    """The model.

    Attributes:
        E: embedding table, (V, d).
        recurrent: reads (B, T, d).
        W_y: (C, H).
        b_y: (C,).
    """

    E: FloatArray
    recurrent: Cell | Bidirectional
    W_y: FloatArray
    b_y: FloatArray

    @classmethod
    def initial(
        cls, recurrent: Cell | Bidirectional, *, tokens: int, classes: int, rng: np.random.Generator
    ) -> Reader:
        """Draw table and head around a recurrent part.

        Args:
            recurrent: a cell or two.
            tokens: V.
            classes: C.
            rng: source of all randomness.
        """
        d, H = recurrent.input_size, recurrent.hidden_size
        W_y = rng.uniform(-(H**-0.5), H**-0.5, (classes, H))
        return cls(rng.normal(size=(tokens, d)), recurrent, W_y, np.zeros(classes))

    @property
    def size(self) -> int:
        """How many numbers are learnt."""
        return sum(array.size for array in self.parameters().values())

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {"E": self.E, "W_y": self.W_y, "b_y": self.b_y, **self.recurrent.parameters()}

    def logits(self, ids: NDArray[np.int64], real: NDArray[np.bool_]) -> FloatArray:
        """Return the scores at each position, (B, T, C).

        Args:
            ids: (B, T).
            real: True at real tokens, (B, T).
        """
        return self._forward(ids, real)[1]

    def _forward(self, ids: NDArray[np.int64], real: NDArray[np.bool_]) -> tuple[Any, FloatArray]:
        trace = self.recurrent.run(self.E[ids], mask=real)
        return trace, trace.h @ self.W_y.T + self.b_y

    def losses(self, batch: Batch) -> FloatArray:
        """Return the loss in nats at each position, 0 where it does not count, (B, T)."""
        return token_losses(self.logits(batch.ids, batch.real), batch.labels, batch.counted)

    def gradients(self, batch: Batch) -> dict[str, FloatArray]:
        """Return the gradient of the mean loss of the positions that count."""
        trace, logits = self._forward(batch.ids, batch.real)
        e = token_loss_gradients(logits, batch.labels, batch.counted) / batch.counted.sum()
        inside = self.recurrent.backward(trace, e @ self.W_y)
        E = np.zeros_like(self.E)
        np.add.at(E, batch.ids, inside.x)
        flat = e.reshape(-1, len(self.b_y))
        W_y = flat.T @ trace.h.reshape(len(flat), -1)
        return {"E": E, "W_y": W_y, "b_y": flat.sum(axis=0), **inside.parameters}

    def train(self, batches: Iterable[Batch], optimiser: Optimiser) -> None:
        """Take one step of the optimiser for each batch, in place."""
        for batch in batches:
            optimiser.step(self.parameters(), self.gradients(batch))
