"""Tests of `tools/vendor.py` and of what it left under `assets/`."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import vendor

ROOT = Path(__file__).resolve().parents[1]
FONTS = ROOT / "assets" / "fonts"
KATEX = ROOT / "assets" / "vendor" / "katex"
SENTENCE = "我昨天给了他一本书。"
FACES = {"NotoSansSC-Regular.ttf": ("Regular", 400), "NotoSansSC-Bold.ttf": ("Bold", 700)}


@pytest.fixture(scope="module", params=sorted(FACES))
def face(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def code_points(face: str) -> set[int]:
    return set(TTFont(FONTS / face).getBestCmap())


def test_docstring_examples_hold() -> None:
    assert doctest.testmod(vendor) == doctest.TestResults(failed=0, attempted=2)


def test_gb2312_is_the_standard_set() -> None:
    signs = vendor.gb2312()
    han = {sign for sign in signs if 0x4E00 <= sign <= 0x9FFF}
    assert (len(signs), len(han)) == (7445, 6763)
    assert {ord("啊"), ord("齄"), ord("→"), ord("①"), ord("Ⅻ"), ord("π")} <= signs


def test_font_covers_gb2312_and_the_sentence(face: str) -> None:
    covered = code_points(face)
    assert vendor.gb2312() - covered == set()
    assert {ord(sign) for sign in SENTENCE} - covered == set()


def test_font_has_every_minus_and_hyphen_of_figures(face: str) -> None:
    # U+2212 is what matplotlib writes before negative numbers: no fallback font is needed for it.
    assert {0x2212, 0x002D, 0x2010, 0x2011, 0x2013, 0x2014} - code_points(face) == set()


def test_font_holds_nothing_beyond_the_subset(face: str) -> None:
    assert code_points(face) - vendor.wanted() == set()


def test_font_is_static_unhinted_and_named(face: str) -> None:
    font = TTFont(FONTS / face)
    style, weight = FACES[face]
    assert {"fvar", "gvar", "STAT", "fpgm", "prep", "cvt "} & set(font.keys()) == set()
    assert (font["name"].getDebugName(1), font["name"].getDebugName(2)) == ("Noto Sans SC", style)
    assert font["OS/2"].usWeightClass == weight


def test_font_stays_small(face: str) -> None:
    assert 2_000_000 < (FONTS / face).stat().st_size < 2_600_000


def test_subset_font_of_its_own_work_changes_no_byte(face: str) -> None:
    # A date of the run, a random order, or a changed subset would show here.
    data = (FONTS / face).read_bytes()
    assert vendor.subset_font(data) == data


def test_katex_style_names_only_files_beside_it() -> None:
    css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    named = set(re.findall(r"url\(([^)]*)\)", css))
    shipped = {str(path.relative_to(KATEX)) for path in (KATEX / "fonts").iterdir()}
    assert len(named) == 20
    assert named == shipped
    assert all(name.endswith(".woff2") for name in named)


def test_katex_style_leaves_the_site_nowhere() -> None:
    css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    assert re.findall(r"https?:|//|@import", css) == []


def test_katex_style_keeps_every_rule() -> None:
    css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    assert css.count("@font-face{") == 20
    assert css.count("{") == css.count("}")
    assert '.katex-version:after{content:"0.16.22"}' in css


def test_versions_name_the_packages() -> None:
    assert (KATEX / "VERSION").read_text(encoding="utf-8") == "katex@0.16.22\n"
    first, subset = (FONTS / "VERSION").read_text(encoding="utf-8").splitlines()
    assert first == "@expo-google-fonts/noto-sans-sc@0.4.3"
    assert all(f"U+{low:04X}-{high:04X}" in subset for low, high in vendor.BLOCKS)


def test_licences_stand_beside_the_files() -> None:
    assert (KATEX / "LICENSE").read_text(encoding="utf-8").startswith("The MIT License (MIT)")
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONTS / "NotoSansSC-OFL.txt").read_text(encoding="utf-8")


def test_check_refuses_other_bytes() -> None:
    with pytest.raises(
        ValueError, match=r"^katex@0\.16\.22: SHA-512 of the archive is .+, expected XCHRdUw4"
    ):
        vendor.check(vendor.KATEX, b"something else")


def test_publish_writes_what_differs_and_leaves_no_trace(tmp_path: Path) -> None:
    product = vendor.Product("pack", {"a.css": b"a", "fonts/b.woff2": b"b"}, whole=True)
    assert vendor.publish(product, tmp_path) == ["a.css", "fonts/b.woff2"]
    assert vendor.publish(product, tmp_path) == []
    (tmp_path / "pack" / "a.css").write_bytes(b"edited")
    (tmp_path / "pack" / "fonts" / "old.woff").write_bytes(b"stale")
    assert vendor.publish(product, tmp_path) == ["a.css", "fonts/old.woff"]
    left = {
        str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    }
    assert left == {"pack/a.css": b"a", "pack/fonts/b.woff2": b"b"}
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]


def test_publish_keeps_other_files_of_a_shared_folder(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "icons.woff2").write_bytes(b"icons")
    assert vendor.publish(vendor.Product("fonts", {"a.ttf": b"a"}, whole=False), tmp_path) == ["a.ttf"]
    assert (tmp_path / "fonts" / "icons.woff2").read_bytes() == b"icons"
