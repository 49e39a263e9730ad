"""Trees: what they answer, as a mapping and as a model; rows that are missing, unreachable or no distribution."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.generate.beam import beam_search
from onesentence.generate.exhaustive import exhaustive
from onesentence.generate.tree import Tree

ROWS = {"": {"A": 0.6, "EOS": 0.4}, "A": {"a": 0.75, "EOS": 0.25}, "A a": {"EOS": 1}}


def test_both_answers_agree_along_every_prefix():
    tree, state, read = Tree(ROWS), np.array([-1]), 0
    for prefix in ("", "A", "A a"):
        logits, state = tree.step(np.array([read]), state)
        expected = tree.next_log_probs(prefix.split())
        found = {tree.tokens[i]: logits[0, i] for i in np.flatnonzero(logits[0] > -np.inf)}
        assert found == expected
        read = tree.tokens.index({"": "A", "A": "a", "A a": "EOS"}[prefix])
    logits, _ = tree.step(np.array([read]), state)
    assert np.exp(logits[0]).tolist() == [0, 1, 0, 0]  # behind the end only the end


def test_texts_of_a_tree_are_its_paths():
    tree = Tree(ROWS)
    paths = {tree.text(t.ids): np.exp(t.log_prob) for t in exhaustive(**tree.model())}
    assert paths == pytest.approx({"EOS": 0.4, "A EOS": 0.15, "A a EOS": 0.45})
    cut = exhaustive(**tree.model(limit=1))
    assert [(tree.text(t.ids), t.ended) for t in cut] == [("EOS", True), ("A", False)]


def test_walked_names_every_prefix_once_with_its_fate():
    tree = Tree(ROWS | {"": {"A": 0.6, "B": 0.4}, "B": {"EOS": 1}})
    (found,) = beam_search(**tree.model(), width=1, record=True)
    rows = {" ".join(path): (pytest.approx(p), fate) for path, p, fate in tree.walked(found)}
    assert rows == {
        "A": (0.6, "kept"),
        "B": (0.4, "pruned"),
        "A a": (0.45, "kept"),
        "A EOS": (0.15, "pruned"),
        "B EOS": (0.4, "unseen"),
        "A a EOS": (0.45, "ended"),
    }


def test_rows_may_stand_in_any_order():
    tree = Tree(dict(reversed(ROWS.items())))
    assert tree.depth == 3
    assert exhaustive(**tree.model())[0].ids == tree.ids("A a EOS")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"": {"A": 1}}, "the prefix 'A' has no distribution"),
        ({**ROWS, "B": {"EOS": 1}}, "the prefix 'B' is reached by no token"),
        ({"A": {"EOS": 1}}, "the prefix '' has no distribution"),
        ({"": {"A": 0.5}, "A": {"EOS": 1}}, "no distribution for '': p must sum to 1"),
        ({"": {"A": 0.0, "EOS": 1.0}, "A": {"EOS": 1}}, "probabilities must be above 0"),
        ({"": {"A": np.nan, "EOS": 1.0}, "A": {"EOS": 1}}, "probabilities must be above 0"),
        ({"": {"A b": 1}, "A b": {"EOS": 1}}, "a token must be a word without blanks and not BOS, got 'A b'"),
        ({"": {"BOS": 1}, "BOS": {"EOS": 1}}, "a token must be a word without blanks and not BOS, got 'BOS'"),
        ({"": {}}, "no distribution for ''"),
    ],
)
def test_tree_refuses(rows, message):
    with pytest.raises(ValueError, match=message):
        Tree(rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (None, r"after must map prefixes to \{token: probability\}, got None"),
        ({"": None}, r"after must map prefixes to \{token: probability\}, got '': None"),
        ({1: {"EOS": 1}}, "after must map prefixes to .*, got 1: "),
        ({"": {"EOS": "1"}}, "after: expected tokens with probabilities for '', got 'EOS': '1'"),
        ({"": {2: 1.0}}, "after: expected tokens with probabilities for '', got 2: 1.0"),
        ({"": {"EOS": True}}, "after: expected tokens with probabilities for '', got 'EOS': True"),
    ],
)
def test_tree_refuses_what_is_no_mapping_of_probabilities(rows, message):
    with pytest.raises(TypeError, match=message):
        Tree(rows)


def test_walked_refuses_a_search_without_records():
    (found,) = beam_search(**Tree(ROWS).model(), width=1)
    with pytest.raises(ValueError, match="found: expected a search with record=True"):
        Tree(ROWS).walked(found)


def test_ids_refuse_other_tokens():
    with pytest.raises(ValueError, match="text: expected tokens of BOS, EOS, A, a, got 'b'"):
        Tree(ROWS).ids("A b")
