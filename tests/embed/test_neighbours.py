"""Neighbours by cosine: against scikit-learn, under changes of axes, refusals."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from onesentence.embed.neighbours import analogy, cosine_similarities, nearest, same_class_fraction


@pytest.fixture
def vectors():
    return np.random.default_rng(4).normal(size=(12, 5))


def test_neighbours_agree_with_scikit_learn(vectors):
    np.testing.assert_allclose(cosine_similarities(vectors), cosine_similarity(vectors), atol=1e-12)
    found = NearestNeighbors(n_neighbors=4, metric="cosine").fit(vectors).kneighbors(vectors)[1]
    np.testing.assert_array_equal(nearest(vectors, 3), found[:, 1:])


def test_nearest_survives_a_rotation_and_not_every_change_of_axes(vectors):
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    np.testing.assert_array_equal(nearest(vectors @ rotation, 3), nearest(vectors, 3))
    assert (nearest(vectors @ np.diag([50, 1, 1, 1, 1]), 3) != nearest(vectors, 3)).any()


def test_same_class_fraction_values_by_hand():
    rows = [[1, 0], [1, 0.1], [1, 0.3], [0, 1], [0.1, 1]]
    assert same_class_fraction(rows, list("aabbb"), 1) == 4 / 5
    assert same_class_fraction(rows, list("aabbb"), 1, leave_out=["a"]) == 2 / 3


def test_analogy_without_exclusion_may_return_the_question():
    table = [[1, 0.1], [1, 0.2], [0, 1], [0.2, 1]]
    assert analogy(table, 0, 1, 2, exclude=False) == 2
    assert analogy(table, 0, 1, 2) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nearest(np.eye(3), 3), r"count must lie in \[1, 3\), got 3"),
        (lambda: nearest([[0, 0], [1, 1]], 1), "vectors must not hold a row of zeros"),
        (lambda: same_class_fraction(np.eye(3), ["a"], 1), "classes must name each of 3 rows, got 1"),
        (lambda: same_class_fraction(np.eye(2), ["a", "a"], 1, ["a"]), "leave_out must leave at least one"),
    ],
)
def test_neighbours_refuse_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
