"""What is timed: sizes of attention, forwards, backwards and one query after another, for a CPU and for a GPU.

The backward pass is timed alone: the forward pass has run and its graph is kept. A decoding case has one query a sequence
and no causal mask, for a query at the end of the keys may read them all; whether its keys lie in one piece or in pages is
up to the backend. The GPU's cases keep tokens and width: batch x length = 16384, heads x head size = 2048, as the papers
do it (Dao 2023, arXiv:2307.08691, section 4.1). Sections 7.6 and 7.10 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesentence.checks import checked_choice, checked_integer
from onesentence.kernels.sizes import Sizes

KINDS = ("forward", "backward", "decode")
DTYPES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of an element."""
DEVICES = ("cpu", "cuda")
CPU_LENGTHS = (1024, 2048, 4096, 8192)
CUDA_LENGTHS = (16384, 8192, 4096, 2048, 1024)
"""The long ones first: a run that is cut short has them."""
TOKENS = 16384
WIDTH = 2048
DECODE_BATCHES = (16, 32, 64)
DECODE_LENGTHS = (4096, 8192, 16384)


@dataclass(frozen=True)
class Case:
    """One attention to time.

    Attributes:
        kind: `forward`, `backward` (timed alone) or `decode`.
        B: batch.
        H: query heads.
        G: key heads, a divisor of H.
        T: queries.
        S: keys.
        D: head size.
        dtype: `float32`, `bfloat16`, …
        causal: query i reads keys up to S - T + i.

    Example:
        >>> Case("forward", 1, 8, 8, 4, 4, 64, "float32", causal=True).name
        'forward B1 H8 G8 T4 S4 D64 float32 causal'
    """

    kind: str
    B: int
    H: int
    G: int
    T: int
    S: int
    D: int
    dtype: str
    causal: bool

    def __post_init__(self) -> None:
        checked_choice("kind", self.kind, KINDS)
        checked_choice("dtype", self.dtype, tuple(DTYPES))
        for name in "BHGTSD":
            checked_integer(name, getattr(self, name), 1)
        if type(self.causal) is not bool:
            raise TypeError(f"causal must be True or False, got {self.causal!r}")
        if self.H % self.G:
            raise ValueError(f"H must be a multiple of the G = {self.G} key heads, got {self.H}")
        if self.kind == "decode" and (self.T != 1 or self.causal):
            raise ValueError(
                f"decode: expected T = 1 without causal, got T = {self.T}, causal = {self.causal}"
            )

    @property
    def name(self) -> str:
        """The case in a line, what `--only` searches."""
        sizes = " ".join(f"{name}{getattr(self, name)}" for name in "BHGTSD")
        return f"{self.kind} {sizes} {self.dtype} {'causal' if self.causal else 'full'}"

    @property
    def sizes(self) -> Sizes:
        """The lengths of the axes."""
        return Sizes(self.B, self.H, self.G, self.T, self.S, self.D)

    @property
    def tokens(self) -> int:
        """Queries of all sequences."""
        return self.B * self.T

    @property
    def table_bytes(self) -> int:
        """Bytes of one score table (B, H, T, S) in the case's dtype."""
        return self.B * self.H * self.T * self.S * DTYPES[self.dtype]


def square(kind: str, B: int, H: int, T: int, D: int, dtype: str, causal: bool) -> Case:
    """Return a case with as many keys as queries and as many key heads as query heads."""
    return Case(kind, B, H, H, T, T, D, dtype, causal)


def cpu_cases(*, quick: bool) -> tuple[Case, ...]:
    """Return the cases of a CPU: 8 heads of 64, float32; `quick` keeps the short ones."""
    lengths = CPU_LENGTHS[:2] if quick else CPU_LENGTHS
    forward = [square("forward", 1, 8, T, 64, "float32", causal) for T in lengths for causal in (False, True)]
    backward = [
        square("backward", 1, 8, T, 64, "float32", causal)
        for T in lengths
        if T <= 4096  # naive keeps three tables of 2 GB at 8192
        for causal in (False, True)
    ]
    decode = [Case("decode", 4, 8, 2, 1, S, 64, "float32", causal=False) for S in lengths if S != 2048]
    return (*forward, *backward, *decode)


def cuda_cases(*, quick: bool) -> tuple[Case, ...]:
    """Return the cases of a GPU; `quick` keeps one length and one decoding case."""
    lengths = (4096,) if quick else CUDA_LENGTHS
    shapes = [
        (kind, TOKENS // T, WIDTH // D, T, D, causal)
        for T in lengths
        for D in (128, 64)
        for causal in (False, True)
        for kind in ("forward", "backward")
    ]
    decode = [
        Case("decode", B, 32, 8, 1, S, 128, "bfloat16", causal=False)
        for B in (DECODE_BATCHES[:1] if quick else DECODE_BATCHES)
        for S in (DECODE_LENGTHS[:1] if quick else DECODE_LENGTHS)
    ]
    brain = [
        square(kind, B, H, T, D, "bfloat16", causal)
        for kind, B, H, T, D, causal in shapes
        if not quick or D == 128
    ]
    half = [
        square(kind, B, H, T, D, "float16", causal)
        for kind, B, H, T, D, causal in shapes
        if T == 4096 and D == 128 and not quick
    ]
    return (*decode, *brain, *half)


def cases_of(device: str, *, quick: bool) -> tuple[Case, ...]:
    """Return the cases of a kind of device.

    Raises:
        ValueError: if the kind is unknown.

    Example:
        >>> len(cases_of("cpu", quick=True)), len(cases_of("cuda", quick=False))
        (9, 53)
    """
    checked_choice("device", device, DEVICES)
    return cpu_cases(quick=quick) if device == "cpu" else cuda_cases(quick=quick)
