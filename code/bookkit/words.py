"""Words of Sphinx and its theme that their Chinese catalogues lack."""

from __future__ import annotations

from gettext import NullTranslations

from sphinx import locale
from sphinx.application import Sphinx

WORDS = {
    "Link to this heading": "这一节的地址",
    "Link to this term": "这个词条的地址",
    "Link to this image": "这幅图的地址",
    "Link to this table": "这张表的地址",
    "Link to this code": "这段代码的地址",
    "Link to this equation": "这个公式的地址",
    "Color mode": "明暗",
    "System Settings": "跟随系统",
    "Light": "亮色",
    "Dark": "暗色",
    "© Copyright %(copyright)s.": "© %(copyright)s，文字 CC BY 4.0，代码 MIT。",
}


class Words(NullTranslations):
    """The book's own words, then those of the catalogues."""

    def gettext(self, message: str) -> str:
        """Return the Chinese of a message."""
        return WORDS.get(message) or super().gettext(message)


def setup(app: Sphinx) -> None:
    """Put the book's words before the catalogue that Sphinx has loaded for the book's language."""
    words = Words()
    words.add_fallback(app.translator)
    app.translator = locale.translators["general", "sphinx"] = words
