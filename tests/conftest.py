"""Fixtures of several parts: the one browser of a test process, and floating-point faults that raise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, sync_playwright


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
