"""The one browser of a test process: Playwright cannot be started twice in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from browser import ARGUMENTS, find_browser

    path = find_browser()
    assert path, "no browser: run `make browser`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()
