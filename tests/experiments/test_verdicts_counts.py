"""The counts of `verdicts.run`, again failure by failure and without `diagnosis`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onesentence.experiments import paths, reversal
from onesentence.experiments.path_beams import search
from onesentence.experiments.reversal import ReversalLab
from onesentence.experiments.verdicts import Verdicts, aimed_elsewhere, run, seen_of, twin_of, wanted
from onesentence.seq2seq.reversal_teaching import TeachingReader
from onesentence.text.reversal import VOCABULARY, ReversalData, reversal_corpus

LAB = ReversalLab(
    data=ReversalData(train=60, dev=4, test=30, shortest=2, longest=4),
    updates=60,
    limit=6,
    every=30,
    seeds=(0, 1),
    wide_seeds=(),
)
BOS, EOS = VOCABULARY.id("BOS"), VOCABULARY.id("EOS")


def failures(seed: int) -> tuple[TeachingReader, list[tuple[list[int], list[int], list[int], int]]]:
    """Return the reader of a seed and (source, right, written, first error) of what it gets wrong."""
    reader = TeachingReader.from_torch(paths.trained_reader(paths.Diagnosis(lab=LAB, seed=seed))[0])
    rows = []
    for letters in reversal.parts_of(LAB.data).sources:
        source = VOCABULARY.encode(letters).tolist()
        right = [*source[::-1], EOS]
        text = [step.chosen for step in reader.write(source, bos=BOS, eos=EOS, limit=LAB.limit)]
        if text != right:
            first = next(i for i, y in enumerate(right) if text[i : i + 1] != [y])
            rows.append((source, right, text, first))
    return reader, rows


def alone(reader: TeachingReader, source: list[int], right: list[int], first: int, j: int) -> int:
    """Return what the step at the first error writes when it reads position j alone, by the formulas."""
    state = reader.start(source)
    fed = [BOS, *right[:first]]
    for token in fed[:-1]:
        _, state = reader.step(token, state)
    context = state.states[j]
    h = reader.decoder.step(np.concatenate([reader.E[fed[-1]], context]), state.parts)[0]
    return int((reader.W_y @ np.concatenate([h, context]) + reader.b_y).argmax())


def test_run_counts_equal_the_failures_one_by_one() -> None:
    record = run(Verdicts(LAB))
    assert record.data_hash == reversal_corpus(LAB.data).digest
    totals: dict[str, int] = {}
    for at, seed in enumerate(LAB.seeds):
        reader, rows = failures(seed)
        counts = dict.fromkeys(
            ("failures", "repaired", "kept", "first_step", "letters", "aimed", "weights"), 0
        )
        control, later = [0, 0], [0, 0, 0]
        for source, right, text, first in rows:
            found = [
                list(one.ids) for one in search(reader, np.array(source), width=4, limit=LAB.limit).texts
            ]
            steps = reader.follow(source, [BOS, *right[:-1]])
            counts["failures"] += 1
            counts["repaired"] += found[0] == right
            counts["kept"] += right in found[1:]
            counts["first_step"] += first == 0
            behind = range(first + 1, len(right))
            later[0] += len(behind)
            later[1] += sum(text[i : i + 1] != right[i : i + 1] for i in behind)
            later[2] += sum(steps[i].chosen != right[i] for i in behind)
            if right[first] == EOS:
                continue
            need = len(source) - 1 - first
            others = [j for j in range(len(source)) if source[j] != right[first]]
            weights = steps[first].weights
            counts["letters"] += 1
            counts["aimed"] += alone(reader, source, right, first, need) == right[first]
            counts["weights"] += int(weights.argmax()) == need and np.ptp(weights) > 0
            control[0] += sum(alone(reader, source, right, first, j) == source[j] for j in others)
            control[1] += len(others)
        assert {name: record.metrics[name][at] for name in counts} == counts
        assert record.metrics["control"][at] == control
        assert record.metrics["later"][at] == later
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    assert all(totals.values()), totals  # every count has something to count


def test_seen_of_asks_for_the_twin_of_the_letter_that_was_wanted() -> None:
    reader, rows = failures(1)
    looked = 0
    for source, right, text, first in rows:
        found: Any = search(reader, np.array(source), width=4, limit=LAB.limit)
        seen = seen_of(reader, source, right, text, found)
        assert bool(seen.beam) <= (found.best.ids == tuple(text))
        if right[first] == EOS:
            assert seen.twin is None
            continue
        other = list(source)
        other[len(source) - 1 - first] = 3 + (right[first] - 3 + 1) % 6
        gap = np.abs(reader.start(source).states - reader.start(other).states).max()
        assert seen.twin == pytest.approx(gap)
        assert seen.wanted == (len(source) - 1 - first,)
        assert aimed_elsewhere(reader, seen)[1] == sum(letter != right[first] for letter in source)
        looked += 1
    assert looked > 3


def test_twin_of_and_wanted_refuse() -> None:
    with pytest.raises(ValueError, match=r"position must lie in \[0, 2\), got 2"):
        twin_of([3, 4], 2)
    with pytest.raises(ValueError, match=r"position must be at least 0, got -1"):
        twin_of([3, 4], -1)
    with pytest.raises(ValueError, match="source: expected a letter at 0, got 'PAD'"):
        twin_of([0, 4], 0)
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        wanted(0)
