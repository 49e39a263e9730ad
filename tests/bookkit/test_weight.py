"""What is left of the theme's style sheets, fonts and scripts."""

from __future__ import annotations

from pathlib import Path

from bookkit import weight


def test_icons_that_nobody_draws_are_left_out() -> None:
    style = (
        '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}.fa-yen:before{content:"\\f157"}a{color:red}'
        "@font-face{font-family:Font Awesome\\ 6 Free;src:url(a.woff2)}.fas{font-family:Font Awesome\\ 6 Free}"
    )
    assert weight.trim_icons(style) == (
        '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}a{color:red}.fas{font-family:"Book Icons"}'
    )


def test_addresses_in_joined_styles_are_rewritten(tmp_path: Path) -> None:
    for name, text in {
        "basic.css": "a{background:url(file.png)}",
        "styles/x.css": '@charset "UTF-8";b{background:url("../y.png")}c{mask:url("data:image/svg+xml,%3C)")}',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    joined = weight.joined_styles(tmp_path, ["basic.css", "styles/x.css"])
    assert joined.startswith('@charset "UTF-8";')
    assert joined.count("@charset") == 1
    assert "a{background:url(../file.png)}" in joined
    assert "b{background:url(../y.png)}" in joined
    assert 'c{mask:url("data:image/svg+xml,%3C)")}' in joined


def test_page_has_the_extras_that_it_uses(built) -> None:
    pages = {
        name: (built.html / "book" / f"{name}.html").read_text(encoding="utf-8") for name in ("index", "beta")
    }
    assert "katex.min.css" in pages["index"]
    assert "mystnb" in pages["beta"]
    for page in pages.values():
        assert "design-tabs.js" not in page
        assert "fontawesome" not in page


def test_icon_that_the_site_lacks_fails_the_build(book) -> None:
    book.edit("alpha", "(alpha-other)=", '<span class="fa-solid fa-yen-sign"></span>\n\n(alpha-other)=')
    status, output = book.build()
    assert status == 1
    assert "book/alpha.md: ERROR: the icon fa-yen-sign is not among the site's" in output


def test_files_that_no_page_asks_for_are_not_published(built) -> None:
    static = built.html / "_static"
    assert not list(static.rglob("fontawesome*"))
    assert not list(static.rglob("*.map"))
    assert (static / "scripts" / "bootstrap.js.LICENSE.txt").is_file(), "its licence asks for the notice"
