"""A light first load: one style sheet and one script of the theme, a page's extras only where it uses them.

The theme asks for a dozen scripts before a page is shown, for 700 KB of icons and on every page for the search
index. Here its style sheets become `_static/styles/site.css` without the icons that nobody draws, its scripts
become `_static/scripts/site.js`, run after the page is shown, and its icon font is cut down to the icons drawn.
The book's own style and scripts (`html_css_files`, `html_js_files`) stay files of their own.

Icons and their font are Font Awesome Free's: the notice of its licence stays in the style sheet; the font, since
it is changed, has another name, as its licence asks.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.builders.html._assets import _CascadingStyleSheet, _JavaScript
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
ICONS = frozenset(
    (
        *("bars", "list", "magnifying-glass", "sun", "moon", "circle-half-stroke"),
        *("angle-left", "angle-right", "arrow-up", "chevron-down"),
    )
)
"""Icons that pages may name; those that the theme's style sheet draws by itself are found in it."""
STYLE, SCRIPT, FONT = "styles/site.css", "scripts/site.js", "styles/icons.woff"
FONT_NAME = "Book Icons"
THEME_STYLES = ("basic.css", "styles/pydata-sphinx-theme.css")
THEME_SCRIPTS = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")
THEME_FONT = "vendor/fontawesome/webfonts/fa-solid-900.ttf"
OPTIONS = "documentation_options.js"
LATE = ("pygments.css", "mystnb")
"""Style sheets that their extensions write only at the end of a build."""
EXTRAS = {
    "mystnb": 'class="cell',
    "sphinx-design": 'class="sd-',
    "design-tabs": "sd-tab-set",
    "katex.min.css": 'class="katex',
}
"""What an asset's name holds, and what the body of a page that needs it holds."""
UNUSED = ("scripts/fontawesome.js*", "vendor/fontawesome", "locales", "images/logo_*", "*/*.map")

UTILITY = frozenset(
    (
        *("solid", "regular", "brands", "classic", "sharp", "fw", "lg", "sm", "xs", "1x", "2x", "3x"),
        *("spin", "pulse", "inverse", "stack", "stack-1x", "stack-2x"),
    )
)
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+::?before,?)+)\{content:"[^"]*"\}')
ICON_NAME = re.compile(r"\bfa-([a-z0-9-]+)")
FACE = re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}")
FAMILY = re.compile(r'"Font Awesome 6 Free"|Font Awesome\\ 6 Free')
POINT = re.compile(r"\\([ef][0-9a-f]{3})\b|([\ue000-\uf8ff])")
URL = re.compile(r"""url\((?!["']?(?:data:|\#))["']?([^)"']+)["']?\)""")


def trim_icons(style: str) -> str:
    """Return a style sheet without the rules of icons that are not in ICONS, the font of the others named anew."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if ICONS & set(ICON_NAME.findall(match[1])) else ""

    return FAMILY.sub(f'"{FONT_NAME}"', FACE.sub("", ICON_RULE.sub(kept, style)))


def joined_styles(static: Path, names: list[str]) -> str:
    """Return style sheets as one that lies at STYLE, addresses in them rewritten for that place.

    Args:
        static: the folder of static files.
        names: paths in it, in the order of their cascade.
    """
    here = posixpath.dirname(STYLE)
    parts = []
    for name in names:

        def rewritten(match: re.Match[str], folder: str = posixpath.dirname(name)) -> str:
            return f"url({posixpath.relpath(posixpath.join(folder, match[1]), here)})"

        text = (static / name).read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
        parts.append(URL.sub(rewritten, trim_icons(re.sub(r"/\*# sourceMappingURL=.*?\*/", "", text))))
    face = f'@font-face{{font-family:"{FONT_NAME}";font-weight:900;font-display:block;src:url({posixpath.relpath(FONT, here)})}}'
    return "\n".join(['@charset "UTF-8";', face, *parts])


def icon_font(source: Path, points: set[int]) -> bytes:
    """Return a WOFF font with only some characters of another, under the name FONT_NAME.

    Args:
        source: the whole font.
        points: code points to keep; what the font lacks is passed over.
    """
    from fontTools import subset  # here: half a second that most builds need not spend
    from fontTools.ttLib import TTFont

    options = subset.Options(layout_features=[], hinting=False, name_IDs=[0, 1, 2, 4, 5, 6, 11])
    font = TTFont(source, recalcTimestamp=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=points)
    cutter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = FONT_NAME.replace(" ", "") if record.nameID == 6 else FONT_NAME
    font.flavor = "woff"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def _needed(name: str, body: str) -> bool:
    marks = [mark for part, mark in EXTRAS.items() if part in name]
    return not marks or any(mark in body for mark in marks)


def _split(assets: list[Any], own: Any, common: Any, body: str) -> tuple[list[str], list[Any]]:
    """Return the paths below `_static` of what is joined, and the assets that a page asks for by themselves.

    Args:
        assets: style sheets or scripts of the page.
        own: the book's entries in the configuration.
        common: what every page has: all else was added for this page alone.
        body: the text of the page.
    """
    apart = {f"_static/{name}" for name, _ in own}
    joined, single = [], []
    for asset in sorted(assets, key=lambda asset: asset.priority):
        name = os.fspath(asset.filename or "")
        special = name in apart or asset not in common or any(part in name for part in (*LATE, *EXTRAS))
        if name.startswith("_static/") and not special:
            joined.append(name.removeprefix("_static/"))
        elif _needed(name, body):
            single.append(asset)
    return joined, single


def _lighten(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Put in the place of a page's assets the joined ones, the extras it needs and the book's own."""
    if app.builder.name != "html":
        return
    body, config, builder = context.get("body", ""), app.config, cast(StandaloneHTMLBuilder, app.builder)
    _check_icons(body, pagename)
    joined, styles = _split(context["css_files"], config.html_css_files, builder._orig_css_files, body)
    code, scripts = _split(context["script_files"], config.html_js_files, builder._orig_js_files, body)
    code.remove(OPTIONS)
    _join(app, [*THEME_STYLES, *joined], [*code, *THEME_SCRIPTS])
    options = [Path(app.outdir, "_static", OPTIONS).read_text(encoding="utf-8")]
    options += [asset.attributes["body"] for asset in scripts if not asset.filename]
    context["css_files"] = [
        _CascadingStyleSheet(f"_static/{STYLE}", priority=100),
        *(_CascadingStyleSheet(asset.filename, **asset.attributes) for asset in styles),
    ]
    context["script_files"] = [
        _JavaScript("", body="\n".join(options), priority=0),
        _JavaScript(f"_static/{SCRIPT}", priority=100, defer="defer"),
        *(_JavaScript(a.filename, **{"defer": "defer", **a.attributes}) for a in scripts if a.filename),
    ]


def _check_icons(body: str, pagename: str) -> None:
    for classes in re.findall(r'class="((?:[^"]* )?fa[srb]?(?:-solid)? [^"]*)"', body):
        for name in set(ICON_NAME.findall(classes)) - UTILITY - ICONS:
            LOGGER.error(
                "the icon fa-%s is not among the site's (bookkit.weight.ICONS)", name, location=pagename
            )


def _join(app: Sphinx, styles: list[str], scripts: list[str]) -> None:
    """Write the joined files, once in a build."""
    static, plan = Path(app.outdir, "_static"), (tuple(styles), tuple(scripts))
    if getattr(app, "bookkit_joined", None) == plan:
        return
    app.bookkit_joined = plan  # type: ignore[attr-defined]
    style = joined_styles(static, styles)
    points = {int(point, 16) if point else ord(sign) for point, sign in POINT.findall(style)}
    code = [
        re.sub(r"//# sourceMappingURL=\S+", "", (static / name).read_text(encoding="utf-8"))
        for name in scripts
    ]
    for name, data in (
        (STYLE, style.encode()),
        (SCRIPT, ";\n".join(code).encode()),
        (FONT, _kept_icon_font(Path(app.doctreedir), static / THEME_FONT, points)),
    ):
        draft = static / f"{name}.part"
        draft.write_bytes(data)
        os.replace(draft, static / name)


def _kept_icon_font(memory: Path, source: Path, points: set[int]) -> bytes:
    """Return the icon font, from an earlier build where nothing that it is made of has changed."""
    parts = (source.read_bytes(), Path(__file__).read_bytes(), repr(sorted(points)).encode())
    file = memory / f"icons-{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}.woff"
    if not file.is_file():
        for old in memory.glob("icons-*"):
            old.unlink()
        draft = file.with_suffix(".part")
        draft.write_bytes(icon_font(source, points))
        os.replace(draft, file)
    return file.read_bytes()


def _drop(app: Sphinx, exception: Exception | None) -> None:
    """Take out of the site the static files that no page asks for."""
    if exception is not None or app.builder.name != "html":
        return
    for pattern in UNUSED:
        for path in Path(app.outdir, "_static").glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def setup(app: Sphinx) -> None:
    """Hook in after the theme and the extensions have asked for their assets."""
    app.connect("html-page-context", _lighten, priority=950)
    app.connect("build-finished", _drop, priority=720)
