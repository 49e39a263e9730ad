"""Every test of plotting draws in the book's style and leaves no figure open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from matplotlib import pyplot as plt

from onesentence import plotting


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with plt.rc_context():
        plotting.use_style()
        yield
    plt.close("all")
