"""Neighbours: by hand, scikit-learn, invariances, the baseline of random vectors, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from onesentence.text.neighbours import (
    analogy,
    cosines,
    nearest,
    nearest_rows,
    same_class_share,
    solved_share,
)

WORDS = ("茶", "水", "书", "报")
TABLE = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 3.0], [0.1, 1.0]])
CLASSES = {"喝": ("茶", "水"), "读": ("书", "报")}


def some_vectors(seed, size=12, dimension=4):
    return np.random.default_rng(seed).normal(size=(size, dimension))


def test_cosines_agree_with_scikit_learn():
    vectors = some_vectors(0)
    np.testing.assert_allclose(cosines(vectors), cosine_similarity(vectors))


def test_nearest_agrees_with_scikit_learn():
    vectors, words = some_vectors(1), [f"词{i}" for i in range(12)]
    search = NearestNeighbors(n_neighbors=4, metric="cosine").fit(vectors)
    distances, found = search.kneighbors(vectors[:1])
    ours = nearest(vectors, words, "词0", 3)
    assert [word for word, _ in ours] == [words[i] for i in found[0][1:]]
    np.testing.assert_allclose([score for _, score in ours], 1 - distances[0][1:])


def test_nearest_puts_equal_cosines_in_the_order_of_the_vocabulary():
    assert [word for word, _ in nearest([[1.0], [2.0], [3.0]], "甲乙丙", "乙", 2)] == ["甲", "丙"]


def test_nearest_rows_agrees_with_scikit_learn_and_with_nearest():
    vectors, words = some_vectors(4, dimension=5), [f"词{i}" for i in range(12)]
    rows = nearest_rows(vectors, 3)
    found = NearestNeighbors(n_neighbors=4, metric="cosine").fit(vectors).kneighbors(vectors)[1]
    np.testing.assert_array_equal(rows, found[:, 1:])
    for word, row in zip(words, rows, strict=True):
        assert [other for other, _ in nearest(vectors, words, word, 3)] == [words[i] for i in row]


def test_nearest_rows_do_not_survive_every_change_of_axes():
    vectors = some_vectors(4)
    assert (nearest_rows(vectors @ np.diag([50, 1, 1, 1]), 3) != nearest_rows(vectors, 3)).any()


@given(st.integers(0, 1000), st.floats(0.01, 100))
@settings(max_examples=30)
def test_nearest_does_not_depend_on_scale_or_rotation(seed, factor):
    vectors, words = some_vectors(seed), [f"词{i}" for i in range(12)]
    turn, _ = np.linalg.qr(some_vectors(seed + 1, 4))
    before = nearest(vectors, words, "词0", 5)
    after = nearest(factor * vectors @ turn, words, "词0", 5)
    assert [word for word, _ in before] == [word for word, _ in after]


def test_same_class_share_by_hand():
    assert same_class_share(TABLE, WORDS, CLASSES, 1) == 1
    np.testing.assert_allclose(same_class_share(TABLE, WORDS, CLASSES, 3), 1 / 3)
    assert same_class_share(TABLE, WORDS, {"甲": ("茶", "书"), "乙": ("水", "报")}, 1) == 0


def test_same_class_share_looks_only_at_classified_words():
    assert same_class_share(
        TABLE, WORDS, {"甲": ("茶",), "乙": ("书", "报"), "丙": ("糖",)}, 1
    ) == pytest.approx(2 / 3)


def test_same_class_share_does_not_ask_unscored_classes_but_lets_them_answer():
    rows, words = [[1, 0], [1, 0.1], [1, 0.3], [0, 1], [0.1, 1]], "甲乙丙丁戊"
    classes = {"a": "甲乙", "b": "丙丁戊"}
    assert same_class_share(rows, words, classes, 1) == 4 / 5
    assert same_class_share(rows, words, classes, 1, unscored=["a"]) == 2 / 3


def test_same_class_share_of_random_vectors_is_the_share_of_pairs_in_one_class():
    words = [f"词{i}" for i in range(40)]
    classes = {str(c): words[10 * c : 10 * c + 10] for c in range(4)}
    shares = [same_class_share(some_vectors(s, 40, 8), words, classes, 5) for s in range(40)]
    assert abs(np.mean(shares) - 9 / 39) < 0.02


def test_analogy_by_hand_and_with_the_question_allowed():
    words = ["男", "女", "王", "后", "书"]
    table = [[1, 0, 0], [0, 1, 0], [1, 0, 2], [0, 1, 2], [0, 0, -1]]
    assert analogy(table, words, ("男", "女", "王"))[0][0] == "后"
    near = [[1, 0.0], [1, 0.1], [0, 1.0], [0.3, 1.0]]
    assert analogy(near, WORDS, ("茶", "水", "书"), leave_out=False)[0][0] == "书"
    assert analogy(near, WORDS, ("茶", "水", "书"))[0][0] == "报"


def test_analogy_at_own_lengths_listens_to_the_longest():
    table = [[1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [1.0, 1.2], [0.0, 2.0]]
    words, question = "甲乙丙丁戊", ("甲", "乙", "丙")
    assert analogy(table, words, question)[0][0] == "戊"
    assert analogy(table, words, question, unit=False)[0][0] == "丁"


@pytest.mark.parametrize(
    ("vectors", "error", "message"),
    [
        ([1.0, 2.0], ValueError, r"vectors must be a finite matrix \(V, d\), got shape \(2,\)"),
        ([[1.0], [np.nan]], ValueError, "vectors must be a finite matrix"),
        ([[1.0], [0.0]], ValueError, "row 1 is all 0 and has no direction"),
        ([["书"]], TypeError, "vectors must hold real numbers"),
    ],
)
def test_cosines_refuses(vectors, error, message):
    with pytest.raises(error, match=message):
        cosines(vectors)


def test_nearest_refuses():
    with pytest.raises(ValueError, match="word: '糖' is not in the vocabulary of 4 words"):
        nearest(TABLE, WORDS, "糖", 1)
    with pytest.raises(ValueError, match="vocabulary must hold 4 different words, one per row, got 2"):
        nearest(TABLE, ["茶", "水"], "茶", 1)
    with pytest.raises(ValueError, match="vocabulary must hold 4 different words, one per row, got 1"):
        nearest(TABLE, ["茶"] * 4, "茶", 1)
    with pytest.raises(ValueError, match=r"k must lie in \[1, 3\], got 4"):
        nearest(TABLE, WORDS, "茶", 4)
    with pytest.raises(TypeError, match="k must be an integer"):
        nearest(TABLE, WORDS, "茶", 1.0)
    with pytest.raises(ValueError, match=r"k must lie in \[1, 2\], got 3"):
        nearest_rows(np.eye(3), 3)


def test_same_class_share_refuses():
    with pytest.raises(ValueError, match="classes: '茶' is in '甲' and in '乙'"):
        same_class_share(TABLE, WORDS, {"甲": ("茶",), "乙": ("茶",)}, 1)
    with pytest.raises(ValueError, match="no word of the vocabulary belongs to a class that is scored"):
        same_class_share(TABLE, WORDS, {"甲": ("糖",)}, 1)
    with pytest.raises(ValueError, match="no word of the vocabulary belongs to a class that is scored"):
        same_class_share(TABLE, WORDS, CLASSES, 1, unscored=CLASSES)
    with pytest.raises(ValueError, match=r"unscored: \['吃'\] are no names of classes"):
        same_class_share(TABLE, WORDS, CLASSES, 1, unscored=["吃"])
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        same_class_share(TABLE, WORDS, CLASSES, 0)


def test_analogy_refuses_a_target_without_direction():
    half, high = 0.5, np.sqrt(0.75)
    table = [[1.0, 0.0], [half, high], [half, -high], [0.0, 1.0]]
    with pytest.raises(ValueError, match=r"question: b - a \+ c is 0"):
        analogy(table, WORDS, ("茶", "水", "书"))


def test_solved_share_counts_first_answers():
    table = [[1, 0.0], [1, 0.1], [0, 1.0], [0.3, 1.0]]
    right, wrong = ("茶", "水", "书", "报"), ("茶", "水", "书", "书")
    assert solved_share(table, WORDS, [right, right, wrong, right]) == 0.75
    with pytest.raises(ValueError, match="questions must hold at least one analogy, got none"):
        solved_share(table, WORDS, [])
