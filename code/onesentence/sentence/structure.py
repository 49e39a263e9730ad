"""Constituency tree and role graph of the sentence, as data that can be drawn and questioned.

The tree is a teaching choice (section 1.2), not the answer of a parser. Its node labels are syntactic; the role
graph has semantic roles. The two are kept in different types on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onesentence.sentence.example import EVENT_UNIT, ROLES, UNITS


@dataclass(frozen=True)
class Tree:
    """A constituent: a label with children, or a leaf that is one unit of the sentence.

    Attributes:
        label: name of the constituent, or the unit itself in a leaf.
        children: constituents in order; empty in a leaf.
    """

    label: str
    children: tuple[Tree, ...] = ()

    def leaves(self) -> tuple[str, ...]:
        """Return the units below this constituent, in order."""
        if not self.children:
            return (self.label,)
        return tuple(leaf for child in self.children for leaf in child.leaves())

    def constituents(self) -> Iterator[Tree]:
        """Yield this constituent and all below it, parents first, leaves left out."""
        if self.children:
            yield self
            for child in self.children:
                yield from child.constituents()

    def innermost(self) -> tuple[str, ...]:
        """Return for each unit the label of the smallest constituent around it, in order.

        Example:
            >>> giving_tree().innermost()[4:7]
            ('宾语成分', '数量短语', '数量短语')
        """
        return tuple(
            label
            for child in self.children
            for label in (child.innermost() if child.children else (self.label,))
        )

    def find(self, units: tuple[str, ...]) -> tuple[str, ...]:
        """Return the labels of the constituents that cover exactly these units, outermost first.

        Example:
            >>> giving_tree().find(("一", "本", "书"))
            ('宾语成分', '名词短语')
            >>> giving_tree().find(("给", "他"))
            ()
        """
        return tuple(node.label for node in self.constituents() if node.leaves() == tuple(units))

    def depth(self) -> int:
        """Return the number of levels, a leaf being 1."""
        return 1 + max((child.depth() for child in self.children), default=0)


def giving_tree() -> Tree:
    """Return the simplified constituency tree of the sentence.

    Example:
        >>> "".join(giving_tree().leaves())
        '我昨天给了他一本书。'
    """
    measure = Tree("数量短语", (Tree("一"), Tree("本")))
    noun_phrase = Tree("名词短语", (measure, Tree("书")))
    verb_phrase = Tree(
        "动词短语",
        (
            Tree("动词", (Tree("给"), Tree("了"))),
            Tree("宾语成分", (Tree("他"),)),
            Tree("宾语成分", (noun_phrase,)),
        ),
    )
    return Tree(
        "句子",
        (
            Tree("主语", (Tree("我"),)),
            Tree("时间状语", (Tree("昨天"),)),
            verb_phrase,
            Tree("句号", (Tree("。"),)),
        ),
    )


@dataclass(frozen=True)
class RoleGraph:
    """An event and the roles that belong to it.

    Attributes:
        event: the verb that names the event.
        edges: (role, words that fill it), in the order giver, recipient, theme, time.
    """

    event: str
    edges: tuple[tuple[str, str], ...]

    def filler(self, role: str) -> str:
        """Return the words that fill a role.

        Raises:
            ValueError: if the event has no such role, naming those it has.

        Example:
            >>> giving_roles().filler("接收者")
            '他'
        """
        for name, words in self.edges:
            if name == role:
                return words
        raise ValueError(
            f"role: unknown {role!r}; this event has {', '.join(name for name, _ in self.edges)}"
        )


def unit_roles() -> tuple[str | None, ...]:
    """Return for each unit of the sentence the role that it helps to fill, None where it fills none.

    Example:
        >>> unit_roles()[:3]
        ('给出者', '时间', None)
    """
    filled = {position: role.name for role in ROLES for position in role.units}
    return tuple(filled.get(position) for position in range(len(UNITS)))


def giving_roles(units: tuple[str, ...] = UNITS) -> RoleGraph:
    """Return the role graph of the giving sentence over the given units.

    Args:
        units: nine units in the order of the sentence; other words may stand in the same places, so that an
            exchange of giver and recipient can be looked at.

    Raises:
        ValueError: if there are not nine units.
    """
    if len(units) != len(UNITS):
        raise ValueError(f"units: expected {len(UNITS)} units, got {len(units)}")
    return RoleGraph(
        units[EVENT_UNIT], tuple((role.name, "".join(units[i] for i in role.units)) for role in ROLES)
    )
