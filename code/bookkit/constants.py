"""The lint against constant checks and guards.

`ledger.check("3.5-context", (1.266956, 1.466087))` would always pass and show nothing. The value of a check and
the condition of a guard must come out of a call into `onesentence` (its evidence and plotting parts apart). The
lint follows names through the cells of a page in order: what is assigned from such a call, or from something
computed from one, counts as computed; everything else is a constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from bookkit import sources
from bookkit.sources import Cell

PACKAGE = "onesentence"
NOT_COMPUTING = ("onesentence.evidence", "onesentence.plotting")


CHECKS = {"onesentence.evidence.ledger.check"}
GUARDS = {"onesentence.evidence.guard", "onesentence.evidence.guards.guard"}


@dataclass
class _Names:
    imported: dict[str, str] = field(default_factory=dict)  # name in the page -> full dotted name
    computed: set[str] = field(default_factory=set)  # names that hold something computed by the package

    def full(self, node: ast.expr) -> str:
        """Return the full dotted name of a called thing, empty where it has none."""
        first, dot, rest = _dotted(node).partition(".")
        return self.imported.get(first, "") + dot + rest if first in self.imported else ""

    def computes(self, node: ast.expr) -> bool:
        """Say whether calling this runs code of the package that computes something."""
        full = self.full(node)
        return full.split(".")[0] == PACKAGE and not full.startswith(NOT_COMPUTING)


def constant_faults(cells: Iterable[Cell]) -> list[tuple[int, str]]:
    """Return (line, reason) for each check or guard of a page that no computation stands behind.

    Args:
        cells: the page's code cells, in order.
    """
    names = _Names()
    faults: list[tuple[int, str]] = []
    for cell in cells:
        try:
            tree = ast.parse(sources.python_of(cell.source))
        except SyntaxError:
            continue  # executing the cell reports it, with a better message
        for statement in tree.body:
            faults.extend((cell.line + line - 1, reason) for line, reason in _statement(statement, names))
    return faults


def _statement(statement: ast.stmt, names: _Names) -> list[tuple[int, str]]:
    faults = []
    called = {id(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)}
    for node in _walk_in_order(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                faults.append((node.lineno, "a star import hides what is checked: import by name"))
            _note_import(node, names)
        elif isinstance(node, ast.Name | ast.Attribute) and names.full(node) in CHECKS | GUARDS:
            if id(node) not in called:
                faults.append((node.lineno, f"{_dotted(node)} must be called directly, under its own name"))
        elif isinstance(node, ast.Call):
            faults.extend(_check_call(node, names))
            _note_mutation(node, names)
        else:
            _note_assignment(node, names)
    return faults


def _walk_in_order(node: ast.AST) -> Iterable[ast.AST]:
    """Yield nodes children first, so that a call is judged before its result is assigned; loops' targets first."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _walk_in_order(node.iter)
        yield node
        for name, value in ast.iter_fields(node):
            if name not in ("iter",):
                yield from _walk_field(value)
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        for generator in node.generators:
            yield from _walk_in_order(generator)
        for name, value in ast.iter_fields(node):
            if name != "generators":
                yield from _walk_field(value)
        yield node
        return
    for _, value in ast.iter_fields(node):
        yield from _walk_field(value)
    yield node


def _walk_field(value: object) -> Iterable[ast.AST]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, ast.AST):
            yield from _walk_in_order(item)


def _note_import(node: ast.Import | ast.ImportFrom, names: _Names) -> None:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            names.imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif alias.asname:
            names.imported[alias.asname] = alias.name
        else:
            first = alias.name.split(".")[0]
            names.imported[first] = first


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return ""


def _is_computed(node: ast.AST, names: _Names) -> bool:
    """Say whether something computed by the package flows into the value of an expression."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and child.id in names.computed:
            return True
        if isinstance(child, ast.Call) and names.computes(child.func):
            return True
    return False


def _argument(node: ast.Call, position: int, keyword: str) -> ast.expr | None:
    if len(node.args) > position:
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg == keyword), None)


def _check_call(node: ast.Call, names: _Names) -> list[tuple[int, str]]:
    called = names.full(node.func)
    if called in CHECKS:
        value, what = _argument(node, 1, "value"), "the value of this check"
    elif called in GUARDS:
        value, what = _argument(node, 1, "condition"), "the condition of this guard"
    else:
        return []
    if value is None:
        return []  # Python itself reports the missing argument
    if not _is_computed(value, names):
        return [(node.lineno, f"{what} is a constant: nothing that {PACKAGE} computed flows into it")]
    if always := _always_true(value):
        return [(node.lineno, f"{what} is always true: {always}")]
    return []


def _always_true(value: ast.expr) -> str:
    for child in ast.walk(value):
        if isinstance(child, ast.BoolOp) and any(isinstance(part, ast.Constant) for part in child.values):
            return f"`{ast.unparse(child)}` contains a constant"
        if isinstance(child, ast.Compare) and len(child.comparators) == 1:
            left, right = ast.unparse(child.left), ast.unparse(child.comparators[0])
            if left == right and isinstance(child.ops[0], ast.Eq | ast.LtE | ast.GtE | ast.Is):
                return f"`{ast.unparse(child)}` compares a thing with itself"
    return ""


def _targets(target: ast.expr) -> Iterable[str]:
    for child in ast.walk(target):
        if isinstance(child, ast.Name):
            yield child.id


def _note_assignment(node: ast.AST, names: _Names) -> None:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            partial = isinstance(target, ast.Subscript | ast.Attribute)
            _bind(target, _is_computed(node.value, names), names, keep=partial)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        _bind(node.target, _is_computed(node.value, names), names)
    elif isinstance(node, ast.AugAssign):
        _bind(node.target, _is_computed(node.value, names), names, keep=True)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        _bind(node.target, _is_computed(node.iter, names), names)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _bind(node.optional_vars, _is_computed(node.context_expr, names), names)
    elif isinstance(node, ast.FunctionDef) and any(_is_computed(part, names) for part in node.body):
        names.computed.add(node.name)


def _bind(target: ast.expr, computed: bool, names: _Names, *, keep: bool = False) -> None:
    for name in [target.value.id] if _base_is_name(target) else list(_targets(target)):  # type: ignore[attr-defined]
        if computed:
            names.computed.add(name)
        elif not keep:
            names.computed.discard(name)


def _base_is_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript | ast.Attribute) and isinstance(target.value, ast.Name)


def _note_mutation(node: ast.Call, names: _Names) -> None:
    """A method called with something computed (`rows.append(result)`) makes its object computed."""
    if not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
        return
    if node.func.value.id in names.imported:
        return  # a module holds no result
    if any(_is_computed(argument, names) for argument in node.args):
        names.computed.add(node.func.value.id)
