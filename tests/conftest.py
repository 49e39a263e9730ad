"""Fixtures of several parts: the one browser of a test process, and floating-point faults that raise.

Without CUDA, Triton's kernels run under its interpreter, which has to be known before the first of them is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from onesentence.evidence.closure import cuda_present

# No test depends on luck or on how busy the machine is: the same examples in every run, and no time limit on one.
settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")

if not cuda_present():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one browser of a test process: Playwright cannot be started twice in it."""
    from browser import ARGUMENTS, find_browser

    path = find_browser()
    assert path, "no browser: run `make browser`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def floating_point_faults_raise() -> Iterator[None]:
    """Let division by zero, overflow and invalid operations of NumPy fail a test; for `usefixtures`."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield
