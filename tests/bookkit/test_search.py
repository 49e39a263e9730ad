"""What the search index takes from a page, and what the script of the search page makes of a query."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bookkit.maths import _node
from bookkit.search import page_sections

SCRIPT = Path(__file__).resolve().parents[2] / "assets" / "js" / "search.js"
RUN = """
require("vm").runInThisContext(require("fs").readFileSync(process.argv[1], "utf-8"));
const calls = JSON.parse(require("fs").readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(calls.map(([name, ...given]) => BookSearch[name](...given))));
"""
PAGE = """<nav>目录</nav><article><section id="top"><h1>读取<a class="headerlink" href="#top">#</a></h1>
<p>由<a href="x">证据</a>收集的<em>值</em>，第
二行。</p><div class="seal-line">构造</div>
<section id="part"><h2>打分</h2><p>设<span class="math"><span class="katex"><span class="katex-mathml"><math><semantics>
<msub><mi>q</mi><mi>i</mi></msub><annotation>q_i</annotation></semantics></math></span><span class="katex-html">q<b>i</b>
</span></span></span>是查询</p><pre>a = 1
b = 2</pre><table><tr><td>他</td><td>书</td></tr></table><br><script>var x;</script></section>
<p>末段</p><dl class="simple glossary"><dt id="term-0">键<a class="headerlink">#</a></dt><dd><p>key。</p></dd>
<dt id="term-1">值</dt><dd><p>value。</p></dd></dl><p>尾</p></section></article><footer>页脚</footer>"""
INDEX: list[Any] = [
    [
        "a.html",
        [
            ["", "读取", "语言模型打分，Attention 的分数、权重"],
            ["part", "打分", "I gave him a book\n公式αij=qi与q′，共有BOS"],
        ],
    ],
    [
        "b.html",
        [
            ["", "语言模型", "给一串词元（token）打分。"],
            ["code", "代码", "attend(q_i)\nlogits = something\n值为0.352840"],
        ],
    ],
]


def run(*calls: list[Any]) -> list[Any]:
    """Return what functions of the script answer, called in Node."""
    done = subprocess.run(
        [_node(), "-e", RUN, str(SCRIPT)],
        input=json.dumps(calls),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    answers: list[Any] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def sections() -> dict[str, tuple[str, str]]:
    return {anchor: (title, text) for anchor, title, text in page_sections(PAGE)}


def test_sections_are_those_of_the_article_with_the_terms_of_the_glossary(sections) -> None:
    assert {anchor: title for anchor, (title, _) in sections.items()} == {
        "": "读取",
        "part": "打分",
        "term-0": "键",
        "term-1": "值",
    }


def test_text_is_whole_across_links_emphasis_and_lines_and_goes_on_after_what_is_nested(sections) -> None:
    assert sections[""][1] == "由证据收集的值，第 二行。\n末段\n尾"
    assert sections["term-0"][1] == "key。"
    assert sections["term-1"][1] == "value。"


def test_formula_is_taken_once_cells_stay_apart_and_code_follows_prose(sections) -> None:
    assert sections["part"][1] == "设 qi是查询\n他\n书\na = 1\nb = 2"


def test_row_that_can_be_linked_to_is_a_section_and_tiles_stay_apart() -> None:
    page = """<article><section id="top"><h1>账本</h1><p><span class="strip-tile">I</span><span class="strip-tile">gave</span></p>
<table><tr><th>编号</th></tr><tr id="row-3.1-loss"><td><code>3.1-loss</code></td><td>损失</td></tr></table>
<p>尾</p></section></article>"""
    assert page_sections(page) == [["", "账本", "I gave\n编号\n尾"], ["row-3.1-loss", "3.1-loss", "损失"]]


def test_page_without_article_has_no_sections() -> None:
    assert page_sections("<h1>题</h1>") == []


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("语言 模型", "语言模型"),
        ("Ａttention（Token）", "attention(token)"),
        ("I  gave\u00a0him", "i gave him"),
        ("设 q\u2032 是", "设q'是"),
        ("−1，\u200b“F1”", '-1,"f1"'),
        ("[s;c]", "[s;c]"),
        ("α…①", "α…1"),
    ],
)
def test_tidy_and_fold_make_one_form_of_what_reads_alike(given: str, plain: str) -> None:
    (tidied,) = run(["tidy", given])
    (folded,) = run(["fold", tidied])
    assert folded == plain
    assert len(folded) == len(tidied)  # so that a match can be marked in the text


QUERIES = {
    "语言模型": ["b.html", "a.html"],  # as the title before as a word of the text
    "言模": ["b.html", "a.html"],
    "模语": [],
    "型打": ["a.html"],
    "模型，Attention": [],
    "打分 BOS": ["a.html#part"],  # both on one page, the section that has both
    "词元 BOS": [],
    "(TOKEN)": ["b.html"],
    "（token）": ["b.html"],
    "分数权重": ["a.html"],  # printed 分数、权重
    "hi": [],  # of `him`: short words are whole words
    "him": ["a.html#part"],
    "thing": [],  # of `something`: not from the middle of a word
    "some": ["b.html#code"],
    "gave him a": ["a.html#part"],
    "q'": ["a.html#part"],
    "q_i": ["b.html#code", "a.html#part"],
    "$q_{i}$": ["b.html#code", "a.html#part"],
    "0.352840": ["b.html#code"],
    "0,352840": [],
    "attend(q": ["b.html#code"],
    "constructor": [],
    "\\": [],
    "  ": [],
    "": [],
}


def test_queries_find_their_sections_and_no_others() -> None:
    found = run(*(["find", query, INDEX] for query in QUERIES))
    assert {q: sorted(one["address"] for one in f) for q, f in zip(QUERIES, found, strict=True)} == {
        query: sorted(addresses) for query, addresses in QUERIES.items()
    }


def test_a_title_comes_before_a_text() -> None:
    (found,) = run(["find", "语言模型", INDEX])
    assert [one["address"] for one in found] == QUERIES["语言模型"]


def test_a_phrase_comes_before_its_words_apart() -> None:
    index = [["a.html", [["", "甲", "权重乘分数"]]], ["b.html", [["", "乙", "分数 权重"]]]]
    (found,) = run(["find", "分数 权重", index])
    assert [one["address"] for one in found] == ["b.html", "a.html"]


@pytest.mark.parametrize(
    ("query", "match"), [("分数权重", "分数、权重"), ("ATTENTION", "Attention"), ("（token）", "（token）")]
)
def test_the_match_is_marked_as_it_is_printed(query: str, match: str) -> None:
    (found,) = run(["find", query, INDEX])
    assert found[0]["match"] == match


def test_the_excerpt_is_cut_with_marks_of_omission() -> None:
    text = "甲" * 100 + "凸包" + "乙" * 100
    (found,) = run(["find", "凸包", [["a.html", [["", "题", text]]]]])
    assert found == [
        {
            "address": "a.html",
            "title": "题",
            "before": "…" + "甲" * 36,
            "match": "凸包",
            "after": "乙" * 84 + "…",
        }
    ]


def load(book) -> dict[str, str]:
    text = (book.html / "_static" / "searchindex.js").read_text(encoding="utf-8")
    pages = json.loads(text.removeprefix("var bookIndex = ").removesuffix(";\n"))
    return {address: json.dumps(sections, ensure_ascii=False) for address, sections in pages}


def test_the_index_follows_an_edit_and_keeps_the_other_pages(book) -> None:
    before = load(book)
    assert list(before) == ["book/index.html", "book/alpha.html", "book/beta.html"]
    assert "目标序列" in before["book/alpha.html"]
    book.edit("beta", "## 一张图", "## 几根横条的图")
    status, output = book.build()
    assert status == 0, output
    after = load(book)
    assert "几根横条的图" in after["book/beta.html"]
    assert "一张图" not in after["book/beta.html"]
    assert "一张图" in before["book/alpha.html"]
    assert after["book/alpha.html"] == before["book/alpha.html"].replace(
        "一张图", "几根横条的图"
    )  # it links there
