"""Measure the hand-written RNN beside PyTorch's, a part of `make bench`.

One pass forwards and one back through T steps of a tanh RNN, B sequences of width d, state of width H, float64, one
thread each, in this process and in turn, RUNS times; what counts is the median of the ratios. PyTorch's side is
`torch.nn.RNN` with autograd. Both compute the gradients of the parameters and of the inputs.

The second line says where our time goes: how much of it the matrix products alone take, those of every step and
those over all steps, on arrays that lie ready. When this was written the ratio was about 0.7 and the share about
half. The other half is elementwise: tanh and its slope, a third of it the loop's own, and the copies that put time
first, so that a step reads one block. Autograd does the same products and keeps a graph of every step besides. What
could still be saved is the check of the inputs, about a tenth.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np

from bench_rows import Row, ratio_row, seconds

T, B, H = 200, 32, 64
RUNS = 15
WHAT = f"RNN forwards and back, T={T}, B={B}, H={H}, ratio to torch"
SHARE = "RNN, share of matrix products in ours"

Step = Callable[[], object]


def steps(length: int, batch: int, hidden: int, seed: int = 0) -> tuple[Step, Step, Step]:
    """Return three functions without arguments: ours, torch's, and the matrix products of ours alone.

    Args:
        length: T.
        batch: B.
        hidden: H, also the width of the inputs.
        seed: of parameters and inputs.

    Raises:
        RuntimeError: the two do not give the same gradient.
    """
    import torch

    from onesentence.recurrent.rnn import RNN

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    module = torch.nn.RNN(hidden, hidden, batch_first=True, dtype=torch.float64)
    cell = RNN.from_torch(module)
    x, dh = rng.normal(size=(2, batch, length, hidden))
    inputs, given = torch.from_numpy(x).requires_grad_(), torch.from_numpy(dh)
    first = np.ascontiguousarray(x.swapaxes(0, 1))  # (T, B, d)
    flat = first.reshape(-1, hidden)

    def ours() -> object:
        return cell.backward(cell.run(x), dh).parameters["W_h"]

    def theirs() -> object:
        module.zero_grad()
        inputs.grad = None
        module(inputs)[0].backward(given)
        return module.weight_hh_l0.grad

    def products() -> object:
        each = [first[t] @ weights for weights in (cell.W_h.T, cell.W_h) for t in range(length)]
        return each, flat @ cell.W_x.T, flat @ cell.W_x, flat.T @ flat, flat.T @ flat

    if not np.allclose(np.asarray(ours()), np.asarray(theirs()), rtol=0, atol=1e-8):
        raise RuntimeError("the gradients of W_h differ: there is nothing to compare the times of")
    return ours, theirs, products


def measure(length: int = T, batch: int = B, hidden: int = H, runs: int = RUNS) -> list[Row]:
    """Run all in turn, each with one thread; return the lines of the table."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            ours, theirs, products = steps(length, batch, hidden)
            times = [(seconds(ours), seconds(theirs), seconds(products)) for _ in range(runs)]
    finally:
        torch.set_num_threads(before)
    shares = [product / mine for mine, _, product in times]
    note = f"median of {runs}, {min(shares):.2f} to {max(shares):.2f}"
    return [
        ratio_row(WHAT, [(mine, other) for mine, other, _ in times]),
        Row(SHARE, statistics.median(shares), "", note),
    ]
