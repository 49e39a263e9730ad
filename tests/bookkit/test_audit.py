"""Audited prose: figures that nothing computed are found wherever they stand; backed ones pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bookkit.audit import audit, figures_of

ROOT = Path(__file__).resolve().parents[2]
PLANTED = {
    "0.7312": "损失约为0.7312。",
    "0.6421": "式子$x=0.6421$没有哪个单元格用到。",
    "1.2345": "全角的１．２３４５。",
    "−0.4242": "带负号的−0.4242。",
    "4096": "一共4096个。",
    "2.5": "是它的2.5倍。",
    "47.1%": "占47.1%。",
    "0.0031": "约$3.1\\times10^{-3}$。",
    "0.352841": "差在末位的0.352841。",
    "0.8881": "| 甲 | 乙 |\n|---|---|\n| 0.8881 | 书 |",
    "0.7313": "式子$x\\approx0.7313$。",
    "0.7314": "点$(3,0.7314)$。",
    "12,345": "共$12\\,345$个。",
    "1,024": "共1 024个。",
    "1e6": "约$10^{6}$个。",
    "0.7315": "本节0.7315，",
    "0.7316": "第3.5节与0.7316。",
    "2.31": "用PyTorch 2.31倍。",
    "4097": "4097-16个。",
    "0.7317": "[比0.7317大](https://example.org/)。",
    "0.7318": "{ref}`得到0.7318 <alpha>`。",
    "0.7319": "{abbr}`某值 (等于0.7319)`。",
    "0.7321": "<p>写成0.7321。</p>",
}
BACKED = (
    "损失舍入是0.352840，再舍入是0.3528，写成百分数是35.284%。",
    "课程第3.5节（2014年）、§3.1与附录A.1.2、式(1.5)、2026-11-30、Python 3.11到3.13都不是结果。",
    "代码里的`0.7777`不算。",
    "减法1 - 0.3528里的短横不是负号。见图3.5、3.5节，GPT-3.5，（2014），2014–2017年，2026/11/30，第3.5、3.6节，§3.1、3.2。",
    "公式$d=0.25$与单元格用的是同一个数，所以正文可以写0.25。",
)


@pytest.fixture(scope="module")
def found(lay_once, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    book = lay_once(tmp_path_factory.mktemp("audit") / "book")
    paragraphs = "\n\n".join([*PLANTED.values(), *BACKED])
    cell = "```{code-cell} ipython3\n:tags: [remove-output]\n\nd = 0.25\n```"
    path = book.page("alpha")
    path.write_text(path.read_text(encoding="utf-8") + f"\n{cell}\n\n{paragraphs}\n", encoding="utf-8")
    book.edit("beta", "caption: 两根横条。", "caption: 两根横条，长0.9137。")
    book.edit("beta", "alt: 两根横条，上长下短。", "alt: 两根横条，上长下短，长的是0.8642。")
    status, output = book.build()
    assert status == 1
    lines = audit(book.root)
    for line in lines:
        place, reason = line.split(": ", 1)
        assert f"  {place}: ERROR: {reason}\n" in output, output
    for line in lines:
        page, number, _ = re.fullmatch(r"(book/\w+\.md):(\d+): (\S+) rounds from nothing.*", line).groups()
        source = (book.root / page).read_text(encoding="utf-8").splitlines()
        assert source[int(number) - 1].strip(), f"{line}: that line is empty"
    return lines


def named(lines: list[str]) -> list[str]:
    return [line.split(": ")[1].split(" ")[0] for line in lines]


@pytest.mark.parametrize("figure", PLANTED)
def test_planted_figure_is_found(found: list[str], figure: str) -> None:
    want = r"3.1\times10^{-3}" if figure == "0.0031" else figure
    assert want in named(found)


def test_planted_figure_is_found_in_caption_and_description(found: list[str]) -> None:
    assert [line.split(":")[0] for line in found if "0.9137" in line] == ["book/beta.md"]
    assert [line.split(":")[0] for line in found if "0.8642" in line] == ["book/beta.md"]


def test_backed_figures_pass(found: list[str]) -> None:
    assert len(named(found)) == len(PLANTED) + 2, found


def test_line_is_that_of_the_figure(found: list[str]) -> None:
    (line,) = [line for line in found if "0.7312" in line]
    assert re.match(r"book/alpha\.md:\d+: ", line)


def test_the_book_passes() -> None:
    assert audit(ROOT) == []


def test_unbuilt_book_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the book is not built"):
        audit(tmp_path)


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("0.35", 0.35, 0.01),
        (".422319", 0.422319, 1e-6),
        ("1{,}024", 1024, 1),
        ("12,345.5", 12345.5, 0.1),
        ("1.2e-3", 0.0012, 1e-4),
        (r"0.35\times10^{-3}", 0.00035, 1e-5),
        (r"2 \cdot 10^4", 20000, 10000),
        ("3.3×10^{18}", 3.3e18, 1e17),
        ("−0.5", -0.5, 0.1),
        ("３．５", 3.5, 0.1),
    ],
)
def test_figure_is_read_with_its_last_digit(text: str, value: float, step: float) -> None:
    (figure,) = figures_of(f"约{text}。")
    assert figure.value == pytest.approx(value)
    assert figure.step == pytest.approx(step)


@pytest.mark.parametrize(
    "text",
    [
        "三维",
        "12个",
        "999步",
        "2014年",
        "第1.2节",
        "§3.1",
        "2026-11-30",
        "Python 3.11",
        "式(3.2)",
        "x1.5y",
        "a.b",
        "1.2.3",
        "1e999",
        "A100",
        "附录A.1.2与式(1.5)",
    ],
)
def test_what_is_no_figure_is_left_out(text: str) -> None:
    assert figures_of(text) == []


def test_rounding_is_half_a_unit_of_the_last_digit() -> None:
    (figure,) = figures_of("0.35")
    assert figure.rounds_from(0.3549)
    assert figure.rounds_from(0.345)
    assert not figure.rounds_from(0.3551)
    assert figure.rounds_from(-0.35), "a size may be told without its sign"
    (negative,) = figures_of("−0.35")
    assert not negative.rounds_from(0.35)
    (percent,) = figures_of("35.2%")
    assert percent.rounds_from(0.35218)
    assert percent.rounds_from(35.218)
