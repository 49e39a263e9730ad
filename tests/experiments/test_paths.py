"""The rule that chooses the failing sequence, and what stands beside it, counted again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onesentence.experiments import paths, reversal
from onesentence.generate.loop import Generated
from onesentence.seq2seq.evaluation import labels_of
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader
from onesentence.seq2seq.reversal_teaching import TeachingReader
from onesentence.text.reversal import VOCABULARY, ReversalData

LAB = reversal.ReversalLab(
    data=ReversalData(train=60, dev=5, test=30, shortest=2, longest=4),
    updates=60,
    every=20,
    limit=6,
    seeds=(0, 1),
    wide_seeds=(),
)
BOS, EOS = VOCABULARY.id("BOS"), VOCABULARY.id("EOS")


@pytest.mark.parametrize("wrong", [0, 3, 29])
@pytest.mark.parametrize("kind", ["letter", "early", "never ends"])
def test_wrong_ones_differ_in_any_way_and_keep_their_places(
    wrong: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = reversal.parts_of(LAB.data).test
    texts = labels_of(test)
    bad: dict[str, Any] = {
        "letter": lambda text: (text[0] % 8 + 1, *text[1:]),
        "early": lambda text: (*text[:-2], EOS),
        "never ends": lambda text: text[:-1],
    }
    written = [
        Generated(bad[kind](text), True) if n >= wrong else Generated(text, True)
        for n, text in enumerate(texts)
    ]
    monkeypatch.setattr(paths, "translate", lambda *_, **__: written)
    found = paths.wrong_ones(SourceReader.initial(ReaderConfig("fixed"), seed=0), test, 6)
    assert [index for index, _ in found] == list(range(wrong, len(texts)))
    assert [tuple(ids.tolist()) for _, ids in found] == [bad[kind](text) for text in texts[wrong:]]


def test_run_takes_the_numbers_of_its_own_seed_and_reader() -> None:
    found = paths.reversal_diagnosis(paths.Diagnosis(lab=LAB, seed=1))
    lab = reversal.run(LAB).metrics
    assert lab["dynamic_nll"][0] != lab["dynamic_nll"][1]
    tokens = sum(len(source) + 1 for source in reversal.parts_of(LAB.data).sources)
    for name in ("fixed", "dynamic"):
        forced = {"nll": lab[f"{name}_nll"][1], "accuracy": lab[f"{name}_accuracy"][1]}
        assert found["metrics"][name]["teacher_forced"] == {**forced, "target_tokens": tokens}
        assert found["metrics"][name]["free"]["exact"] == lab[f"{name}_exact"][1]
        assert found["metrics"][name]["free"]["ended"] == lab[f"{name}_ended"][1]
        assert found["checkpoints"][name] == lab[f"{name}_checkpoint"][1]
    wrote, right = ([*found[name], None, None] for name in ("greedy", "target"))
    assert found["first_error"] == next(n for n in range(1, 8) if wrote[n - 1] != right[n - 1])


def test_preferences_are_counted_per_seed_over_its_own_failures() -> None:
    rows = []
    for seed in LAB.seeds:
        model, _ = paths.trained_reader(paths.Diagnosis(lab=LAB, seed=seed))
        reader, failures, wrong_likelier = TeachingReader.from_torch(model), 0, 0
        for source in reversal.parts_of(LAB.data).sources:
            ids, right = VOCABULARY.encode(source), [*VOCABULARY.encode(source[::-1]).tolist(), EOS]
            text = [step.chosen for step in reader.write(ids, bos=BOS, eos=EOS, limit=LAB.limit)]
            scores = [
                sum(step.log_p[y] for step, y in zip(reader.follow(ids, [BOS, *t[:-1]]), t, strict=True))
                for t in (text, right)
            ]
            failures += text != right
            wrong_likelier += text != right and scores[0] > scores[1]
        rows.append((seed, failures, wrong_likelier))
    assert paths.preferences(paths.Diagnosis(lab=LAB)) == rows
    assert any(0 < preferred < failures for _, failures, preferred in rows)


def test_sequence_log_p_refuses_an_empty_sequence_and_ids_that_are_none() -> None:
    reader = TeachingReader.from_torch(SourceReader.initial(ReaderConfig("dynamic"), seed=0))
    with pytest.raises(ValueError, match="written: expected at least one token, got none"):
        paths.sequence_log_p(reader, np.array([3, 4]), np.array([], dtype=np.int64))
    with pytest.raises(ValueError, match=r"written must lie in \[0, 9\), got -1"):
        paths.sequence_log_p(reader, np.array([3, 4]), np.array([-1]))


@pytest.mark.parametrize("widths", [(), (0,), (2, 2)])
def test_diagnosis_refuses_widths(widths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="widths"):
        paths.Diagnosis(lab=replace(LAB), widths=widths)
