"""All failures of a tiny lab: what is counted adds up, and the lab's reader is observed as by hand."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.experiments import paths, reversal
from onesentence.experiments.path_beams import search
from onesentence.experiments.reversal import ReversalLab
from onesentence.experiments.verdicts import Verdicts, aimed_elsewhere, fixed_case, run, seen_of
from onesentence.numerics import log_softmax
from onesentence.seq2seq.diagnosis import SETTLES
from onesentence.text.reversal import ReversalData

LAB = ReversalLab(
    data=ReversalData(train=60, dev=4, test=12, shortest=2, longest=3),
    updates=10,
    limit=5,
    every=5,
    seeds=(0, 1),
    wide_seeds=(),
)


def test_run_counts_every_failure_once() -> None:
    metrics, lab = run(Verdicts(LAB)).metrics, reversal.run(LAB).metrics
    for at in range(2):
        failures = metrics["failures"][at]
        assert failures == round(12 * (1 - lab["dynamic_exact"][at])) > 0
        assert all(sum(metrics["status"][at][name].values()) == failures for name in SETTLES)
        assert metrics["status"][at]["history"] == {"excluded": failures}
        assert metrics["repaired"][at] + metrics["kept"][at] <= failures
        assert metrics["aimed"][at] <= metrics["letters"][at] <= failures
        wrote, of = metrics["control"][at]
        assert wrote <= of <= 2 * metrics["letters"][at]
        assert all(n <= metrics["later"][at][0] for n in metrics["later"][at][1:])


def test_seen_of_is_what_the_lab_says_and_aims_at_one_state() -> None:
    case = paths.failure(paths.Diagnosis(lab=LAB))
    source, target, output = (ids.tolist() for ids in (case.source, case.target, case.greedy))
    found = search(case.reader, case.source, width=1, limit=LAB.limit)
    seen = seen_of(case.reader, source, target, output, found)
    scores = [paths.sequence_log_p(case.reader, case.source, np.array(text)) for text in (target, output)]
    assert seen.log_p == pytest.approx(scores)
    assert seen.beam  # greedy is the beam of width 1, so its rounds count
    if seen.first_error == 0:
        state = case.reader.start(source)
        x = np.concatenate([case.reader.E[1], state.states[-1]])
        h = case.reader.decoder.step(x, state.parts)[0]
        logits = case.reader.W_y @ np.concatenate([h, state.states[-1]]) + case.reader.b_y
        assert seen.aimed is not None
        assert seen.aimed.p_likeliest == pytest.approx(np.exp(log_softmax(logits)).max())
        wrote, of = aimed_elsewhere(case.reader, seen)
        assert 0 <= wrote <= of < len(source)


def test_verdicts_refuses_a_beam_without_width() -> None:
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        Verdicts(width=0)


def test_fixed_case_is_the_first_failure_of_the_fixed_reader_and_scores_it() -> None:
    reader, seen = fixed_case(paths.Diagnosis(lab=LAB))
    number = reversal.run(LAB).metrics["fixed_first_failure"][0]
    test = reversal.parts_of(LAB.data).test
    assert seen.source == tuple(test.source[number][test.source_mask[number]].tolist())
    scores = [
        paths.sequence_log_p(reader, np.array(seen.source), np.array(text))
        for text in (seen.target, seen.output)
    ]
    assert seen.log_p == pytest.approx(scores)
    assert np.ptp(seen.weights) < 1e-12  # its read is the mean, at every step


def test_fixed_case_trains_again_where_the_file_is_gone() -> None:
    _, seen = fixed_case(paths.Diagnosis(lab=LAB))
    reversal.checkpoint_file(reversal.run(LAB).metrics["fixed_checkpoint"][0]).unlink()
    assert fixed_case(paths.Diagnosis(lab=LAB))[1] == seen
