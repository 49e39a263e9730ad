"""Every fault that a page can have makes `jupyter-book build .` fail, the first time and the second.

Many faults are planted in one book, each in a copy of a page of its own, and the report must name each. A build that
cannot run its pages reads none, so those faults and the ones that are found in reading have books of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Fault:
    """A fault to plant: an edit of a page, and what the build must say, page and line first."""

    name: str
    page: str
    old: str
    new: str
    said: str

    @property
    def copy(self) -> str:
        """The page of its own."""
        return f"{self.page}-{self.name}"

    @property
    def line(self) -> str:
        """The line of the report, a pattern."""
        assert self.said.startswith(rf"book/{self.page}\.md:")
        return rf"  book/{self.copy}" + self.said.removeprefix(f"book/{self.page}")

    def plant(self, book) -> None:
        """Copy the page, with labels of its own and the claim of a section only where the fault is about it."""
        text = book.page(self.page).read_text(encoding="utf-8")
        labels = re.findall(r"^(?:\(|    name: )([a-z-]+)(?:\)=)?$", text, re.MULTILINE)
        assert text.count(self.old) == 1, f"{self.old!r} stands {text.count(self.old)} times in {self.page}"
        if '"1.1":' not in self.old:
            text = text.replace('covers:\n  "1.1": alpha-target\n', "")
        text = text.replace(self.old, self.new)
        for label in labels:
            text = re.sub(rf"(?<![\w-]){label}(?![\w-])", f"{label}-{self.name}", text)
        book.page(self.copy).write_text(text, encoding="utf-8")
        with (book.root / "_toc.yml").open("a", encoding="utf-8") as toc:
            toc.write(f"  - file: book/{self.copy}\n")


CELL = 'print("八步")'
TABLE = 'plotting.table(["名", "权重"]'
SWALLOWED = """\
from onesentence.evidence.guards import GuardError
try:
    guard("九步", len(target) == 9)
except GuardError:
    print("八步")"""
FORGED = """\
from IPython.display import display
from onesentence.evidence.emit import MIME
record = {"kind": "ledger", "id": "1.2-units", "section": "1.2", "value": 8, "status": "checked", "ok": True}
display({MIME: record}, raw=True)"""
FAULTS = (
    Fault(
        "swallowed-guard", "alpha", CELL, SWALLOWED, r"book/alpha\.md:\d+: .*guard does not hold: 「九步」"
    ),
    Fault(
        "forged-record", "alpha", CELL, FORGED, r"book/alpha\.md:\d+: .*1\.2-units: computed 8, expected 9"
    ),
    Fault(
        "two-files",
        "alpha",
        CELL,
        f'offer("steps", 1, label="又是八步")\n{CELL}',
        r"book/alpha\.md:\d+: .*offer: the page has two files 'steps'",
    ),
    Fault(
        "raw-picture",
        "index",
        "再一行。",
        '<img src="x.png">',
        r"book/index\.md:\d+: .*picture or table as raw HTML",
    ),
    Fault(
        "unquoted-section",
        "alpha",
        '"1.1": alpha',
        "1.1: alpha",
        r"book/alpha\.md:1: .*quote the id of section 1\.1",
    ),
    Fault(
        "raising-cell", "alpha", CELL, "1 / 0", r"book/alpha\.md:\d+: .*ZeroDivisionError: division by zero"
    ),
    Fault(
        "no-identity",
        "alpha",
        "identity: constructed\n",
        "",
        r"book/alpha\.md:\d+: .*output without identity",
    ),
    Fault(
        "ledger-value-off",
        "alpha",
        '"1.1-target", target',
        '"1.1-target", target[:-1]',
        r"book/alpha\.md:\d+: .*LedgerError: 1\.1-target: computed .*expected",
    ),
    Fault(
        "ledger-number-off",
        "alpha",
        "+ 0.3528397789656021",
        "+ 0.352838",
        r"book/alpha\.md:\d+: .*LedgerError: 3\.1-loss: computed 0\.352838, expected 0\.35284 within 5e-07",
    ),
    Fault(
        "unknown-ledger-id",
        "alpha",
        "1.1-target",
        "1.1-targets",
        r"book/alpha\.md:\d+: .*unknown ledger id '1\.1-targets'; nearest: 1\.1-target",
    ),
    Fault(
        "false-guard",
        "alpha",
        "len(target) == 8",
        "len(target) == 9",
        r"book/alpha\.md:\d+: .*GuardError: .*「一共八步」",
    ),
    Fault(
        "constant-guard",
        "alpha",
        "len(target) == 8",
        "8 == 4 + 4",
        r"book/alpha\.md:\d+: .*condition of this guard is a constant",
    ),
    Fault(
        "constant-check",
        "alpha",
        "float(len(target)) * 0 +",
        "",
        r"book/alpha\.md:\d+: .*value of this check is a constant",
    ),
    Fault(
        "unshown-table",
        "beta",
        'caption="两个权重")',
        'caption="两个权重")\nprint("后面")',
        r"book/beta\.md:\d+: .*plotting\.table is not the last expression of its cell",
    ),
    Fault("no-jupytext-header", "alpha", "jupytext:", "other:", r"book/alpha\.md:1: .*no jupytext header"),
    Fault(
        "half-jupytext-header",
        "alpha",
        "    format_name: myst\n",
        "",
        r"book/alpha\.md:1: .*format_name must be myst",
    ),
    Fault(
        "other-kernel",
        "alpha",
        "name: python3",
        "name: my-env",
        r"book/alpha\.md:1: .*kernelspec: name must be python3, got my-env",
    ),
    Fault(
        "broken-reference",
        "alpha",
        "`beta-figure`",
        "`beta-figures`",
        r"book/alpha\.md:\d+: .*undefined label: 'beta-figures'",
    ),
    Fault(
        "no-alt",
        "beta",
        "  image:\n    alt: 两根横条，上长下短。\n",
        "",
        r"book/beta\.md:\d+: .*figure without a Chinese alternative text",
    ),
    Fault(
        "english-alt",
        "beta",
        "两根横条，上长下短。",
        "two bars",
        r"book/beta\.md:\d+: .*figure without a Chinese alternative text",
    ),
    Fault(
        "missing-glyph",
        "beta",
        '["甲", "−1"]',
        '["甲", "𓀀"]',
        r"book/beta\.md:\d+: .*no glyph for '𓀀' \(U\+13000\)",
    ),
    Fault(
        "no-label", "alpha", "(alpha-other)=\n", "", r"book/alpha\.md:\d+: .*heading without label: 另一节"
    ),
    Fault("no-glue", "beta", "`largest`", "`smallest`", r"book/beta\.md:\d+: .*smallest"),
    Fault(
        "section-claimed-twice",
        "beta",
        "---\n\n(beta)=",
        'covers:\n  "1.1": beta-table\n---\n\n(beta)=',
        r"book/beta\.md:1: .*section 1\.1 is claimed by book/alpha too",
    ),
    Fault(
        "unknown-section",
        "alpha",
        '"1.1": alpha-target',
        '"1.99": alpha-target',
        r"book/alpha\.md:1: .*no section '1\.99'",
    ),
    Fault(
        "label-of-no-heading",
        "alpha",
        '"1.1": alpha-target',
        '"1.1": alpha-nowhere',
        r"book/alpha\.md:1: .*'alpha-nowhere', which no heading here has",
    ),
    Fault(
        "claimed-but-unchecked",
        "alpha",
        '"1.1": alpha-target',
        '"3.1": alpha-other',
        r"book/alpha\.md:1: .*row 3\.1-weights is not checked",
    ),
    Fault(
        "stderr",
        "alpha",
        CELL,
        'import sys; print("careful", file=sys.stderr)',
        r"book/alpha\.md:\d+: .*cell writes to stderr: careful",
    ),
    Fault(
        "warning-on-stderr",
        "alpha",
        CELL,
        'import warnings; warnings.warn("old")',
        r"book/alpha\.md:\d+: .*cell writes to stderr: .*old",
    ),
    Fault(
        "over-the-time-limit",
        "alpha",
        CELL,
        "import time; time.sleep(60)",
        r"book/alpha\.md:\d+: .*longer than the limit of 4 s",
    ),
    Fault(
        "dead-kernel",
        "alpha",
        CELL,
        "import os; os._exit(3)",
        r"book/alpha\.md:\d+: .*the kernel died in this cell",
    ),
    Fault("object-address", "alpha", CELL, "print(object())", r"book/alpha\.md:\d+: .*object's address"),
    Fault(
        "machine-path",
        "alpha",
        CELL,
        "import os; print(os.getcwd())",
        r"book/alpha\.md:\d+: .*path of this machine",
    ),
    Fault(
        "progress-bar", "alpha", CELL, r'print("10 %\r20 %")', r"book/alpha\.md:\d+: .*terminal control codes"
    ),
    Fault(
        "expected-error",
        "alpha",
        CELL,
        "raise ValueError('meant')",  # on a page that allows errors
        r"book/alpha\.md:\d+: .*ValueError: meant",
    ),
    Fault(
        "wrong-formula",
        "index",
        "$a^2$",
        "$\\unknown{a}$",
        r"book/index\.md:\d+: .*KaTeX cannot read this formula",
    ),
    Fault(
        "unparsed-emphasis",
        "index",
        "**加粗**，",
        "和**“加粗”**的字",
        r"book/index\.md:\d+: .*`\*\*` is printed as it stands",
    ),
    Fault(
        "unknown-identity", "beta", "mechanism", "proven", r"book/beta\.md:\d+: .*identity: unknown 'proven'"
    ),
    Fault("unknown-tile", "index", ":source: 他", ":source: 她", r"book/index\.md:\d+: .*'她' is no tile"),
)


SLOW = {"over-the-time-limit"}
UNREAD = {
    *("raising-cell", "expected-error", "dead-kernel", "missing-glyph", "false-guard"),
    *("ledger-value-off", "ledger-number-off", "unknown-ledger-id"),
    *("stderr", "warning-on-stderr", "object-address", "machine-path", "progress-bar"),
    *("no-jupytext-header", "half-jupytext-header", "other-kernel"),
}
"""Faults after which no page is read, because one cannot be run or its output not be shown."""
BOOKS = {
    "slow": tuple(fault for fault in FAULTS if fault.name in SLOW),
    "unread": tuple(fault for fault in FAULTS if fault.name in UNREAD),
    "read": tuple(fault for fault in FAULTS if fault.name not in SLOW | UNREAD),
}
assert {fault.name for fault in FAULTS} > SLOW | UNREAD


def planted(book, faults: tuple[Fault, ...]) -> None:
    for fault in faults:
        fault.plant(book)
    names = {fault.name for fault in faults}
    if "over-the-time-limit" in names:
        config = book.root / "_config.yml"
        config.write_text(
            re.sub(r"timeout: \d+", "timeout: 4", config.read_text(encoding="utf-8")), encoding="utf-8"
        )
    if "expected-error" in names:
        book.edit("alpha-expected-error", "\n---\n\n", "\nexecution:\n  allow_errors: true\n---\n\n")


@pytest.mark.parametrize("faults", BOOKS.values(), ids=BOOKS)
def test_build_fails_twice_and_names_every_fault(book, faults: tuple[Fault, ...]) -> None:
    planted(book, faults)
    for attempt in ("first", "second"):
        status, output = book.build()
        assert status == 1, f"{attempt} build: {output}"
        listed = re.findall(r"^  .*", output[output.index("Build failed") :], re.MULTILINE)
        missed = [f.name for f in faults if not any(re.match(f.line, line) for line in listed)]
        assert missed == [], f"{attempt} build: " + "\n".join(listed)
        named = {line.split(":")[0].strip() for line in listed}
        assert named == {f"book/{fault.copy}.md" for fault in faults}, "a page without a fault is named"
        assert not any(str(book.root) in line for line in listed), "the summary names this machine's folder"


def test_renamed_label_is_missed_on_pages_that_were_not_read_again(book) -> None:
    assert book.build()[0] == 0
    book.edit("beta", "(beta-figure)=", "(beta-figures)=")
    for _ in range(2):
        status, output = book.build()
        assert status == 1
        assert "undefined label: 'beta-figure'" in output


def test_users_startup_files_do_not_run(book, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(
        "from onesentence import evidence\nevidence.guard = lambda *a, **k: None\n", encoding="utf-8"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book.edit("alpha", "len(target) == 8", "len(target) == 9")
    assert book.build()[0] == 1


def test_build_recovers_when_the_fault_is_mended(book) -> None:
    book.edit("alpha", CELL, "1 / 0")
    assert book.build()[0] == 1
    book.edit("alpha", "1 / 0", CELL)
    status, output = book.build()
    assert status == 0, output
    assert "executed 0 pages" in output, "the good output was still cached"


def test_all_failing_pages_are_reported_at_once_and_good_ones_kept(book) -> None:
    book.edit("alpha", CELL, "1 / 0")
    book.edit("beta", "softmax([1.0, -1.0])", "softmax([])[3]")
    status, output = book.build()
    assert status == 1
    assert "2 faults" in output
    assert re.search(r"book/alpha\.md:\d+: .*ZeroDivisionError", output)
    assert re.search(r"book/beta\.md:\d+: .*IndexError", output)
