"""The reversal lab, the first read and the followed failure, on a few sequences."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
import safetensors
import torch
from torch import nn

from onesentence.experiments import first_read, paths, reversal
from onesentence.experiments.path_beams import beams_of
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader
from onesentence.seq2seq.reversal_teaching import TeachingReader
from onesentence.seq2seq.training import Training, train
from onesentence.text.reversal import VOCABULARY, ReversalData

TINY = reversal.ReversalLab(
    data=ReversalData(train=60, dev=5, test=40, shortest=2, longest=4),
    updates=12,
    every=4,
    limit=6,
    seeds=(0, 1),
    wide_seeds=(1,),
)


def test_run_has_a_value_per_seed_repeats_and_writes_what_it_names(records):
    one, other = (reversal.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    assert [value is None for value in one.metrics["wide_exact"]] == [True, False]
    assert [len(row) for row in one.metrics["fixed_loss"]] == [3, 3]
    digests = [
        value for name in ("fixed", "dynamic", "wide") for value in one.metrics[f"{name}_checkpoint"] if value
    ]
    assert len(set(digests)) == 5
    for digest in digests:
        assert hashlib.sha256(reversal.checkpoint_file(digest).read_bytes()).hexdigest() == digest


def test_train_one_counts_fit_each_other():
    parts = reversal.parts_of(TINY.data)
    result = reversal.train_one(replace(TINY, updates=80), parts, ("dynamic", "zero", 0))
    assert result["tokens"] == parts.test.mask.sum() == sum(len(s) + 1 for s in parts.sources)
    assert result["exact"] == pytest.approx(result["all_right"])
    wrong = round((1 - result["exact"]) * 40)
    assert sum(row[1] for row in result["by_length"]) == 40
    assert sum(row[2] for row in result["by_length"]) == wrong == sum(row[2] for row in result["by_position"])
    assert result["by_position"][0][1] == 40
    assert wrong > 0
    assert 0 <= result["first_failure"] < 40


def test_by_position_by_hand():
    # targets of 3, 3 and 2 tokens: right, wrong at the second, wrong behind the end
    assert reversal._by_position([3, 3, 2], [None, 1, 2]) == [(1, 3, 0), (2, 3, 1), (3, 1, 0)]
    assert reversal._by_length((("a",), ("a", "b"), ("b",)), [0, 1]) == [(1, 2, 1), (2, 1, 1)]


def test_tokens_seen_is_what_the_updates_were_given():
    parts = reversal.parts_of(TINY.data)

    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model, self.seen = (
                SourceReader.initial(ReaderConfig("fixed", encoder=2, hidden=3), seed=0),
                0,
            )

        def forward(self, source, mask, inputs):
            self.seen += int((inputs != VOCABULARY.id("PAD")).sum())
            return self.model(source, mask, inputs)

    counting, plan = Counting(), Training(updates=7, batch=16)
    train(counting, parts.train, plan, np.random.default_rng(3))
    lengths = parts.train.mask.sum(axis=1)
    assert reversal.tokens_seen(lengths, plan, np.random.default_rng(3)) == counting.seen


def test_checkpoint_comes_back_and_anything_else_is_refused(records):
    sizes = reversal.reader_config("dynamic", "bias")
    model = SourceReader.initial(sizes, seed=3)
    file = reversal.checkpoint_file(reversal.write_checkpoint(model))
    back = reversal.read_checkpoint(file, sizes)
    assert all(torch.equal(one, two) for one, two in zip(model.parameters(), back.parameters(), strict=True))
    with pytest.raises(RuntimeError, match=r"query\.bias"):
        reversal.read_checkpoint(file, reversal.reader_config("dynamic"))
    crafted = records / "crafted.safetensors"
    torch.save(model.state_dict(), crafted)
    with pytest.raises(safetensors.SafetensorError):
        reversal.read_checkpoint(crafted, sizes)


def test_first_read_runs_its_conditions_with_the_labs_batches():
    metrics = first_read.run.__wrapped__(first_read.FirstRead(lab=TINY, seeds=(1,))).metrics
    lab = reversal.run.__wrapped__(TINY).metrics
    assert metrics["encoder_seen"] == metrics["bias_seen"] == lab["dynamic_seen"][1:]
    assert metrics["encoder_exact"] != metrics["bias_exact"] or metrics["encoder_nll"] != metrics["bias_nll"]


def test_compared_puts_the_labs_own_runs_first():
    config = first_read.FirstRead(lab=TINY, seeds=(1,))
    table, lab = first_read.compared(config), reversal.run(TINY).metrics
    assert list(table) == ["zero", "encoder", "bias"]
    assert table["zero"] == [(1, lab["dynamic_exact"][1], lab["dynamic_by_position"][1][0][2])]
    assert table["bias"][0][1] == first_read.run(config).metrics["bias_exact"][0]


def test_drawn_counts_are_those_of_the_runs():
    counts = reversal.drawn_counts(TINY, 2, repeats=False)
    result = reversal.train_one(TINY, reversal.parts_of(TINY.data), ("fixed", "zero", 0))
    assert counts.shape == (2, 2)
    assert counts[0].tolist() == [result["tokens"], result["seen"]]
    assert (reversal.drawn_counts(TINY, 2, repeats=True) != counts).any()


def test_diagnosis_is_the_first_failure_both_ways():
    config = paths.Diagnosis(lab=replace(TINY, updates=100, every=50), seed=1)
    found = paths.reversal_diagnosis(config)
    parts, metrics = reversal.parts_of(config.lab.data), reversal.run(config.lab).metrics
    assert json.loads(json.dumps(found)) == found
    assert found["index"] == metrics["dynamic_first_failure"][1]
    assert tuple(found["source"]) == parts.sources[found["index"]]
    assert found["target"] == [*found["source"][::-1], "EOS"] != found["greedy"]
    assert found["checkpoint"] == metrics["dynamic_checkpoint"][1]
    assert found["data"] == parts.digest
    forced, free, at = found["teacher_forced"], found["free"], found["first_error"] - 1
    assert [row["read"] for row in forced] == ["BOS", *found["target"][:-1]]
    assert [row["chosen"] for row in free] == found["greedy"]
    assert forced[: at + 1] == free[: at + 1]
    assert free[at]["chosen"] != free[at]["reference"]
    if at + 1 < min(len(forced), len(free)):  # what is read next is asked for before the token is
        assert forced[at + 1]["weights"] == free[at + 1]["weights"]
    total = sum(np.log(row["p_reference"]) for row in forced)
    assert total == pytest.approx(found["log_p"]["target"], abs=1e-10)
    greedy = sum(np.log(row["p_chosen"]) for row in free)
    assert greedy == pytest.approx(found["log_p"]["greedy"], abs=1e-10)
    seed, failures, preferred = found["all_failures"][1]
    assert seed == 1
    assert failures == round(40 * (1 - metrics["dynamic_exact"][1]))
    assert (found["log_p"]["greedy"] > found["log_p"]["target"]) <= preferred <= failures
    assert found["beams"][0]["texts"][0]["text"] == found["greedy"]
    assert found["beams"][0]["texts"][0]["log_p"] == pytest.approx(greedy, abs=1e-10)


def test_diagnosis_holds_what_its_numbers_can_be_had_again_from():
    config = paths.Diagnosis(lab=replace(TINY, updates=100, every=50), seed=1)
    found, lab = paths.reversal_diagnosis(config), reversal.run(config.lab).metrics
    assert found["identity"] == paths.READ_ONLY
    for name in ("fixed", "dynamic"):
        own, file = found["metrics"][name], reversal.checkpoint_file(found["checkpoints"][name])
        assert (own["teacher_forced"]["nll"], own["free"]["exact"]) == (
            lab[f"{name}_nll"][1],
            lab[f"{name}_exact"][1],
        )
        sizes = ReaderConfig(**found["config"]["readers"][name])
        model, parts = reversal.read_checkpoint(file, sizes), reversal.parts_of(config.lab.data)
        again = reversal.measured(config.lab, parts, model)
        assert again["nll"] == pytest.approx(own["teacher_forced"]["nll"], abs=1e-6)
        assert again["tokens"] == own["teacher_forced"]["target_tokens"]
    assert found["checkpoint"] == found["checkpoints"]["dynamic"]
    assert found["sequences"] == 40
    plan = config.lab.training
    told = {"rate": plan.rate, "batch": plan.batch, "updates": 100, "clip": plan.clip, "name": "Adam"}
    assert told.items() <= found["config"]["optimiser"].items()
    search = found["config"]["search"]
    assert (search["alpha"], search["finished"], search["eos_counted"]) == (0.0, "in_beam", True)
    for name in ("teacher_forced", "free"):
        for row in found[name]:
            assert len(row["input_prefix"]) == row["step"]
            assert row["input_prefix"][-1] == row["read"]
    assert [row["input_prefix"] for row in found["free"]][-1] == ["BOS", *found["greedy"][:-1]]


def test_beams_keep_every_candidate_so_that_the_targets_way_can_be_had_again():
    reader = TeachingReader.from_torch(SourceReader.initial(ReaderConfig("dynamic"), seed=2))
    source, target = np.array([3, 4, 5, 6]), np.array([6, 5, 4, 3, 2])
    for beam in beams_of(reader, source, target, widths=[1, 3], limit=6):
        text, way = [VOCABULARY.symbols[i] for i in target], beam["target"]["path"]
        for number, (step, row) in enumerate(zip(way, beam["rounds"], strict=False), start=1):
            found = next(candidate for candidate in row if candidate["text"] == text[:number])
            assert step == {name: found[name] for name in ("rank", "fate", "log_p")}
        for row in beam["rounds"]:
            scores = [candidate["log_p"] for candidate in row]
            assert scores == sorted(scores, reverse=True)
            fates = [candidate["fate"] for candidate in row]
            assert set(fates[beam["width"] :]) <= {"pruned"}
            assert "pruned" not in fates[: beam["width"]]
    assert way[-1]["fate"] == "pruned"


def test_diagnosis_says_so_where_the_file_was_gone():
    config = paths.Diagnosis(lab=TINY)
    for digest in reversal.run(TINY).metrics["dynamic_checkpoint"]:
        reversal.checkpoint_file(digest).unlink()
    assert paths.reversal_diagnosis(config)["identity"] == paths.RETRAINED


def test_trained_reader_trains_again_where_the_file_is_gone():
    config = paths.Diagnosis(lab=TINY)
    _, digest = paths.trained_reader(config)
    reversal.checkpoint_file(digest).unlink()
    model, again = paths.trained_reader(config)
    assert again == digest
    assert reversal.checkpoint_file(digest).exists()
    assert isinstance(model, SourceReader)


def test_failures_are_those_that_greedy_generation_gets_wrong():
    config = paths.Diagnosis(lab=TINY)
    test = reversal.parts_of(TINY.data).test
    cases = paths.failures(config)
    exact = reversal.run(TINY).metrics["dynamic_exact"][0]
    assert len(cases) == round(len(test) * (1 - exact)) > 1
    assert paths.failure(config).index == cases[0].index == min(case.index for case in cases)
    for case in cases:
        assert case.target.tolist() == [*case.source.tolist()[::-1], 2] != case.greedy.tolist()
        steps = case.reader.write(case.source, bos=1, eos=2, limit=TINY.limit)
        assert [step.chosen for step in steps] == case.greedy.tolist()
    causes = [paths.blamed(case) for case in cases]
    scores = [
        [paths.sequence_log_p(case.reader, case.source, ids) for ids in (case.target, case.greedy)]
        for case in cases
    ]
    assert [cause == "model" for cause in causes] == [wrong > right for right, wrong in scores]
    assert paths.preferences(config)[0] == (0, len(cases), causes.count("model"))


def test_failure_refuses_a_reader_without_one(monkeypatch):
    monkeypatch.setattr(paths, "wrong_ones", lambda model, test, limit: [])
    with pytest.raises(ValueError, match="config: the reader of seed 0 has all right"):
        paths.failure(paths.Diagnosis(lab=TINY))


def test_beams_of_a_full_width_have_the_likeliest_text_first():
    model = SourceReader.initial(ReaderConfig("dynamic"), seed=2)
    reader = TeachingReader.from_torch(model)
    source, target = np.array([3, 4]), np.array([4, 3, 2])
    (beam,) = beams_of(reader, source, target, widths=[9 * 9], limit=2)
    first = reader.follow(source, [1])[0].log_p
    texts = [
        first[a] + (0 if a == 2 else reader.follow(source, [1, a])[1].log_p[b])
        for a in range(9)
        for b in range(9)
        if a != 2 or b == 2
    ]
    ended = [text["log_p"] for text in beam["texts"] if text["ended"]]
    assert len(ended) == 9
    assert max(text["log_p"] for text in beam["texts"]) == pytest.approx(max(texts), abs=1e-12)
    assert beam["target"]["kept"] is False
    assert [step["fate"] for step in beam["target"]["path"]] == ["open", "open"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": ()}, "seeds: expected at least one"),
        ({"wide_seeds": (2,)}, r"wide_seeds must be among seeds = \(0, 1\), got \(2,\)"),
        ({"every": 5}, "every must divide updates = 12, got 5"),
        ({"limit": 4}, "limit must leave room for EOS behind 4, got 4"),
    ],
)
def test_lab_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)


def test_configurations_refuse_seeds_that_the_lab_lacks():
    with pytest.raises(ValueError, match=r"seeds must be among those of the lab, \(0, 1\), got \(2,\)"):
        first_read.FirstRead(lab=TINY, seeds=(2,))
    with pytest.raises(ValueError, match=r"seed must be one of the lab's, \(0, 1\), got 2"):
        paths.Diagnosis(lab=TINY, seed=2)
    with pytest.raises(ValueError, match="firsts and seeds must not be empty"):
        first_read.FirstRead(lab=TINY, firsts=())
