"""Measure the encoder block beside PyTorch's, a part of `make bench`.

One block of 2017, post-norm, without dropout: B sequences of T positions, width C, H heads, FFN width F, float32, one
thread, in this process and in turn, RUNS times; what counts is the median of the ratios. PyTorch's side is
`nn.TransformerEncoderLayer`, batch first, with the same weights. The first line is a pass forwards and one back in
training mode, the second a pass forwards in evaluation mode without gradients, where PyTorch takes a fused path of its
own. When this was written ours took about 0.9 of PyTorch's time in the first and 1.1 in the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bench_rows import Row, ratio_row, seconds

B, T, C, H, F = 8, 128, 256, 8, 1024
RUNS = 15
GOAL = 1.11
"""The most that our time may be of theirs: nine tenths of the speed."""
TRAINING = f"encoder block forwards and back, B={B}, T={T}, C={C}, ratio to torch"
EVALUATION = f"encoder block forwards, B={B}, T={T}, C={C}, ratio to torch"

Step = Callable[[], object]


def steps(
    batch: int, length: int, width: int, heads: int, ffn: int, seed: int = 0
) -> dict[str, tuple[Step, Step]]:
    """Return, by line of the table, our step and torch's, functions without arguments.

    Args:
        batch: B.
        length: T.
        width: C.
        heads: H.
        ffn: F.
        seed: of parameters and inputs.

    Raises:
        RuntimeError: the two do not compute the same.
    """
    import torch

    from onesentence.transformer.block import EncoderBlock
    from onesentence.transformer.config import TransformerConfig

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        block = EncoderBlock(TransformerConfig(1, 1, d_model=width, n_head=heads, d_ff=ffn))
        module = torch.nn.TransformerEncoderLayer(width, heads, ffn, dropout=0.0, batch_first=True)
        x, upstream = torch.randn(batch, length, width, requires_grad=True), torch.randn(batch, length, width)
    with torch.no_grad():
        for mine, theirs in zip(block.parameters(), module.parameters(), strict=True):  # one order
            mine.copy_(theirs)

    def training(layer: torch.nn.Module) -> object:
        layer.train().zero_grad()
        x.grad = None
        layer(x).backward(upstream)
        return x.grad

    def evaluation(layer: torch.nn.Module) -> object:
        with torch.no_grad():
            return layer.eval()(x.detach())

    runs = ((TRAINING, training), (EVALUATION, evaluation))
    found = {what: (partial(run, block), partial(run, module)) for what, run in runs}
    for what, sides in found.items():
        mine, other = (torch.as_tensor(side()) for side in sides)
        if not torch.allclose(mine, other, rtol=0, atol=1e-4):
            raise RuntimeError(f"{what}: the two differ, so there is nothing to compare the times of")
    return found


def measure(
    batch: int = B, length: int = T, width: int = C, heads: int = H, ffn: int = F, runs: int = RUNS
) -> list[Row]:
    """Run both in turn, each with one thread; return the lines of the table."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = []
        for what, (ours, theirs) in steps(batch, length, width, heads, ffn).items():
            row = ratio_row(what, [(seconds(ours), seconds(theirs)) for _ in range(runs)])
            rows.append(replace(row, goal=GOAL))
    finally:
        torch.set_num_threads(before)
    return rows
