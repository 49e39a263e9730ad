"""The sentence strip: source units and target tokens as tiles, the active ones lit.

One component with one look: the `sentence-strip` directive of the site and the cells of a page both draw it
from here. In a cell, leave a `Strip` as the last expression.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from onesentence.sentence.example import TARGET, UNITS


@dataclass(frozen=True)
class Strip:
    """The strip, ready to be shown.

    Attributes:
        source: positions of the source units to light, from 0.
        target: positions of the target tokens to light, from 0.
        source_units: the source tiles.
        target_units: the target tiles; empty leaves the second row out.
        label: Chinese description for people who do not see the strip; made from the tiles where empty.

    Example:
        >>> strip = Strip(source=(4,), target=(2,))
        >>> strip.description
        '源句九个单位：我、昨天、给、了、他、一、本、书、。；点亮：他。目标八个词元：I、gave、him、a、book、yesterday、.、EOS；点亮：him。'
    """

    source: Sequence[int] = ()
    target: Sequence[int] = ()
    source_units: tuple[str, ...] = UNITS
    target_units: tuple[str, ...] = TARGET
    label: str = ""

    def __post_init__(self) -> None:
        for name, active, units in (
            ("source", self.source, self.source_units),
            ("target", self.target, self.target_units),
        ):
            for position in active:
                if not 0 <= position < len(units):
                    raise ValueError(
                        f"{name}: position {position} is outside the {len(units)} tiles (0 to {len(units) - 1})"
                    )

    @property
    def description(self) -> str:
        """What the strip shows, in words."""
        if self.label:
            return self.label
        parts = [_row_in_words("源句", "个单位", self.source_units, self.source)]
        if self.target_units:
            parts.append(_row_in_words("目标", "个词元", self.target_units, self.target))
        return "".join(parts)

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return self.description

    def html(self) -> str:
        """Return the strip as an HTML fragment, styled by the book's style sheet."""
        rows = [_row_html("source", "zh-CN", self.source_units, self.source)]
        if self.target_units:
            rows.append(_row_html("target", "en", self.target_units, self.target))
        return f'<div class="strip" role="img" aria-label="{html.escape(self.description, quote=True)}">{"".join(rows)}</div>'


def positions(names: str, units: Sequence[str], argument: str) -> tuple[int, ...]:
    """Return the positions of space-separated units or numbers in a row of tiles.

    Args:
        names: e.g. `"他 书"` or `"4 7"`; `all` means every tile.
        units: the tiles.
        argument: what to call the list in an error.

    Raises:
        ValueError: if a name is not a tile, listing the tiles.

    Example:
        >>> positions("他 7", UNITS, "source")
        (4, 7)
    """
    if names.strip() == "all":
        return tuple(range(len(units)))
    found = []
    for name in names.split():
        if name in units:
            found.append(list(units).index(name))
        elif name.isdecimal() and int(name) < len(units):
            found.append(int(name))
        else:
            raise ValueError(f"{argument}: {name!r} is no tile; the tiles are {' '.join(units)}")
    return tuple(found)


_NUMERALS = "零一二三四五六七八九十"


def _row_in_words(name: str, counted: str, units: Sequence[str], active: Sequence[int]) -> str:
    count = _NUMERALS[len(units)] if len(units) <= 10 else str(len(units))
    lit = f"；点亮：{'、'.join(units[i] for i in active)}" if active else ""
    return f"{name}{count}{counted}：{'、'.join(units)}{lit}。"


def _row_html(kind: str, lang: str, units: Sequence[str], active: Sequence[int]) -> str:
    tiles = []
    for i, unit in enumerate(units):
        state = " is-active" if i in active else ""
        tiles.append(f'<span class="strip-tile{state}">{html.escape(unit)}</span>')
    return f'<span class="strip-row strip-{kind}" lang="{lang}" aria-hidden="true">{"".join(tiles)}</span>'
