"""How many numbers a recurrent layer learns, and how wide it may be for a given number of them.

A layer has g groups of rows: 1 for the tanh RNN, 3 for the GRU (r, z, n), 4 for the LSTM (i, f, g, o). Each group
has (H, d) numbers for the input, (H, H) for the state and biases. This package's cells have one bias a group, the GRU
one more for its candidate; `torch.nn` has two a group, of which only the sum matters except in the GRU's candidate.

Section 2.13 of the course: equal width is not equal budget.
"""

from __future__ import annotations

from onesentence.checks import checked_integer

GROUPS = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Groups of rows by cell."""


def parameter_count(cell: str, *, inputs: int, hidden: int, torch_biases: bool = False) -> int:
    """Return how many numbers one layer in one direction learns.

    Args:
        cell: "RNN", "GRU" or "LSTM".
        inputs: d.
        hidden: H.
        torch_biases: count the biases of `torch.nn`, 2 g H, instead of this package's.

    Raises:
        TypeError: if a size is not an integer.
        ValueError: for another cell or a size below 1.

    Example:
        >>> [parameter_count(cell, inputs=2, hidden=3) for cell in ("RNN", "GRU", "LSTM")]
        [18, 57, 72]
    """
    if cell not in GROUPS:
        raise ValueError(f"cell must be one of {', '.join(GROUPS)}, got {cell!r}")
    checked_integer("inputs", inputs, 1)
    checked_integer("hidden", hidden, 1)
    biases = 2 * GROUPS[cell] if torch_biases else GROUPS[cell] + (cell == "GRU")
    return hidden * (GROUPS[cell] * (inputs + hidden) + biases)


def widest(cell: str, *, inputs: int, budget: int, torch_biases: bool = False) -> int:
    """Return the largest H whose layer learns at most `budget` numbers.

    Args:
        cell: "RNN", "GRU" or "LSTM".
        inputs: d.
        budget: how many numbers there may be.
        torch_biases: count as `torch.nn` does.

    Raises:
        TypeError: if a size is not an integer.
        ValueError: for another cell, a size below 1, or a budget that not even H = 1 keeps.

    Example:
        >>> widest("GRU", inputs=2, budget=72)
        3
    """
    checked_integer("budget", budget, 1)
    H = 0
    while parameter_count(cell, inputs=inputs, hidden=H + 1, torch_biases=torch_biases) <= budget:
        H += 1
    if H == 0:
        raise ValueError(f"budget must allow H = 1, got {budget}")
    return H
