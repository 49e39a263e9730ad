"""The experiment on a small budget: shape of the record, what seeds and counts change, bad configurations."""

import numpy as np
import pytest

from onesentence.experiments.glove_neighbours import GloveNeighboursConfig, counts_of, run
from onesentence.text.everyday import EverydayConfig
from onesentence.text.glove import GloveConfig, train

SMALL = {"corpus": EverydayConfig(count=60), "glove": GloveConfig(dimension=2, steps=5), "seeds": (3, 1, 4)}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_run_keeps_curves_and_vectors_of_every_seed(tmp_path):
    record = run(GloveNeighboursConfig(**SMALL))
    assert record.identity == "trained"
    assert record.seeds == (3, 1, 4)
    assert np.shape(record.metrics["losses"]) == (3, 6)
    assert np.shape(record.metrics["vectors"]) == (3, 74, 2)
    assert len(list(tmp_path.glob("*.json"))) == 1
    again = run(GloveNeighboursConfig(**SMALL))
    assert (again.metrics, again.seconds) == (record.metrics, record.seconds)  # kept, not trained again


def test_run_seeds_share_the_counts_and_differ_in_the_start():
    first, second, _ = run(GloveNeighboursConfig(**SMALL)).metrics["vectors"]
    assert not np.allclose(first, second)
    added = run(GloveNeighboursConfig(**SMALL, added=1.0))
    assert added.data_hash == run(GloveNeighboursConfig(**SMALL)).data_hash
    assert not np.allclose(added.metrics["vectors"][0], first)


def test_run_added_to_seen_cells_leaves_the_others_out(monkeypatch):
    fitted = []

    def remember(counts, config, rng):
        fitted.append(counts)
        return train(counts, config, rng)

    monkeypatch.setattr("onesentence.experiments.glove_neighbours.train", remember)
    run(GloveNeighboursConfig(**SMALL, added=2.0))
    run(GloveNeighboursConfig(**SMALL, added=2.0, added_to="seen"))
    counts = counts_of(GloveNeighboursConfig(**SMALL)).matrix
    np.testing.assert_array_equal(fitted[0], counts + 2)
    np.testing.assert_array_equal(fitted[-1], np.where(counts > 0, counts + 2, 0))


def test_counts_of_depends_on_the_seed_of_the_corpus():
    counts, again, other = (
        counts_of(GloveNeighboursConfig(**SMALL, corpus_seed=s)).matrix for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(counts, again)
    assert not np.array_equal(counts, other)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"added": -1.0}, ValueError, "added must be finite and not negative, got -1.0"),
        ({"added": "1"}, TypeError, "added must be a number, got '1'"),
        ({"added_to": "none"}, ValueError, "added_to must be 'all' or 'seen', got 'none'"),
        ({"seeds": (0, 1)}, ValueError, r"seeds must be at least three different ones, got \(0, 1\)"),
        ({"seeds": (0, 0, 1)}, ValueError, "seeds must be at least three different ones"),
    ],
)
def test_config_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        GloveNeighboursConfig(**arguments)
