"""One failed sequence of the reversal lab, followed twice: behind the true history and behind the reader's own.

Which one is not a matter of choice: the first test sequence, in the order of drawing, that the dynamic reader of the
named seed gets wrong when it writes greedily. The rule was fixed before any output was looked at; it is the course's.
All numbers of a path are computed in float64 by `TeachingReader` from the parameters that were trained in float32.

Sections 3.12 to 3.14 of the course. The course's own checkpoint is not kept; this is a model of this book's lab.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onesentence.checks import as_ids, checked_integer
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import reversal
from onesentence.experiments.path_beams import SETTINGS, beams_of
from onesentence.experiments.reversal import Reader, ReversalLab
from onesentence.generate.hypotheses import blame
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.evaluation import first_difference, labels_of, translate
from onesentence.seq2seq.reversal_model import SourceReader
from onesentence.seq2seq.reversal_teaching import ReadStep, TeachingReader
from onesentence.text.reversal import VOCABULARY, Letters
from onesentence.text.vocabulary import BOS, EOS

RULE = "测试部分按抽出的次序，动态读取贪心生成不对的第一条"
"""The rule in the words of the page."""

READ_ONLY = "本书训练的检查点，只读；诊断没有重新训练，也没有改动参数"
RETRAINED = "检查点文件不在，按同一配置与种子重新训练后才诊断"
"""What a diagnosis rests on."""

BOTH: tuple[Reader, ...] = ("fixed", "dynamic")
"""The readers whose metrics and checkpoints a diagnosis names."""

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Diagnosis:
    """Which reader is asked.

    Attributes:
        lab: the experiment.
        seed: of the dynamic reader.
        widths: of the beams.
    """

    lab: ReversalLab = field(default_factory=ReversalLab)
    seed: int = 0
    widths: tuple[int, ...] = (1, 2, 4)

    def __post_init__(self) -> None:
        if self.seed not in self.lab.seeds:
            raise ValueError(f"seed must be one of the lab's, {self.lab.seeds}, got {self.seed}")
        if not self.widths or len(set(self.widths)) != len(self.widths):
            raise ValueError(f"widths: expected different ones, at least one, got {self.widths}")
        for width in self.widths:
            checked_integer("widths", width, 1)


@dataclass(frozen=True, eq=False)
class Failure:
    """The failed sequence and the reader that failed; what a search over the same model needs.

    Attributes:
        reader: in NumPy.
        index: place in the test part, from 0.
        source: ids, (S,), without EOS.
        target: ids, (S + 1,), EOS at the end.
        greedy: what was written, ids, EOS at the end if it came.
        checkpoint: SHA-256 of the safetensors file.
    """

    reader: TeachingReader
    index: int
    source: Ids
    target: Ids
    greedy: Ids
    checkpoint: str


def trained_reader(config: Diagnosis) -> tuple[SourceReader, str]:
    """Return the lab's dynamic reader of a seed and the hash of its file, trained again if the file is gone."""
    lab, sizes = config.lab, reversal.reader_config("dynamic")
    digest = reversal.run(lab).metrics["dynamic_checkpoint"][lab.seeds.index(config.seed)]
    file = reversal.checkpoint_file(digest)
    if file.exists():
        return reversal.read_checkpoint(file, sizes), digest
    model, _ = reversal.trained(lab, reversal.parts_of(lab.data), sizes, config.seed)
    return model, reversal.write_checkpoint(model)


def wrong_ones(model: SourceReader, test: Batch, limit: int) -> list[tuple[int, Ids]]:
    """Return the places of the sequences that greedy generation gets wrong, and what was written.

    Args:
        model: any reader.
        test: sequences.
        limit: largest number of choices per sequence.
    """
    written = translate(model, test, eos=VOCABULARY.id(EOS), limit=limit)
    pairs = enumerate(zip(written, labels_of(test), strict=True))
    return [(index, np.array(row.ids)) for index, (row, labels) in pairs if row.ids != labels]


def failures(config: Diagnosis) -> tuple[Failure, ...]:
    """Return all sequences of the test part that the reader gets wrong, in the order of drawing.

    Args:
        config: which reader.
    """
    model, digest = trained_reader(config)
    test, reader = reversal.parts_of(config.lab.data).test, TeachingReader.from_torch(model)
    return tuple(
        Failure(
            reader=reader,
            index=index,
            source=test.source[index][test.source_mask[index]],
            target=test.labels[index][test.mask[index]],
            greedy=written,
            checkpoint=digest,
        )
        for index, written in wrong_ones(model, test, config.lab.limit)
    )


def failure(config: Diagnosis) -> Failure:
    """Return the sequence that the rule picks.

    Args:
        config: which reader.

    Raises:
        ValueError: if the reader has all sequences right.
    """
    found = failures(config)
    if not found:
        raise ValueError(
            f"config: the reader of seed {config.seed} has all right, there is no failure to follow"
        )
    return found[0]


def sequence_log_p(reader: TeachingReader, source: Ids, written: Ids) -> float:
    """Return log p of a whole sequence, in nats: the sum over its tokens, each behind its own prefix.

    Args:
        reader: the model.
        source: ids, (S,).
        written: ids without BOS, (T,), with EOS if it is complete.

    Raises:
        TypeError: if they are no integers.
        ValueError: if there is none, or one lies outside the vocabulary.
    """
    if not as_ids("written", written, len(VOCABULARY)).size:
        raise ValueError("written: expected at least one token, got none")
    steps = reader.follow(source, [VOCABULARY.id(BOS), *written[:-1]])
    return float(sum(step.log_p[token] for step, token in zip(steps, written, strict=True)))


def blamed(case: Failure) -> Literal["search", "model", "tie"]:
    """Return what the log probabilities of the right text and of the greedy one say of this failure.

    Args:
        case: a failure.
    """
    right, wrong = (sequence_log_p(case.reader, case.source, ids) for ids in (case.target, case.greedy))
    return blame(right, wrong)


def preferences(config: Diagnosis) -> list[tuple[int, int, int]]:
    """Count, for the dynamic reader of every seed, the failures in which the model gives the wrong text more.

    In those no better search can return the right one instead; in the others greedy generation passed it by.

    Returns:
        Rows (seed, failures, of them with the wrong text likelier).
    """
    rows = []
    for seed in config.lab.seeds:
        causes = [blamed(case) for case in failures(dataclasses.replace(config, seed=seed))]
        rows.append((seed, len(causes), causes.count("model")))
    return rows


def table_of(steps: tuple[ReadStep, ...], target: Ids) -> list[dict[str, Any]]:
    """Return the steps of a path as plain data.

    Args:
        steps: of a path.
        target: ids, EOS at the end.

    Returns:
        Per step `step` from 1, `input_prefix` (all that was read, BOS first), `read` (the last of it), `chosen`,
        `p_chosen`, `reference` (the target's token of that step number, None behind its end), `p_reference`, and
        `weights` over the source.
    """
    rows, fed = [], _text(np.array([step.fed for step in steps]))
    for number, step in enumerate(steps):
        token = int(target[number]) if number < len(target) else None
        rows.append(
            {
                "step": number + 1,
                "input_prefix": list(fed[: number + 1]),
                "read": fed[number],
                "chosen": _symbol(step.chosen),
                "p_chosen": float(np.exp(step.log_p[step.chosen])),
                "reference": None if token is None else _symbol(token),
                "p_reference": None if token is None else float(np.exp(step.log_p[token])),
                "weights": step.weights.tolist(),
            }
        )
    return rows


@memoised
def run(config: Diagnosis) -> Record:
    """Follow the failed sequence both ways.

    Args:
        config: which reader.

    Returns:
        One metric, `diagnosis`, what `reversal_diagnosis` returns.
    """
    lab, at = reversal.run(config.lab).metrics, config.lab.seeds.index(config.seed)
    here = reversal.checkpoint_file(lab["dynamic_checkpoint"][at]).exists()
    found, parts = failure(config), reversal.parts_of(config.lab.data)
    first = first_difference(found.greedy.tolist(), found.target.tolist())
    diagnosis = {
        "identity": READ_ONLY if here else RETRAINED,
        "rule": RULE,
        "index": found.index,
        "source": _text(found.source),
        "target": _text(found.target),
        "greedy": _text(found.greedy),
        "first_error": None if first is None else first + 1,
        **_both_ways(found, config.lab.limit),
        "all_failures": preferences(config),
        "beams": beams_of(
            found.reader, found.source, found.target, widths=config.widths, limit=config.lab.limit
        ),
        "metrics": {name: _metrics(lab, name, at) for name in BOTH},
        "sequences": len(parts.test),
        "config": _configuration(config),
        "checkpoint": found.checkpoint,
        "checkpoints": {name: lab[f"{name}_checkpoint"][at] for name in BOTH},
        "data": parts.digest,
    }
    return Record(
        name="paths",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=(config.seed,),
        metrics={"diagnosis": [diagnosis]},
        data_hash=parts.digest,
        versions=versions_of("numpy", "torch", "safetensors"),
    )


def reversal_diagnosis(config: Diagnosis | None = None) -> dict[str, Any]:
    """Return everything known of the failed sequence, as plain data that `json.dumps` takes.

    Args:
        config: which reader; None is the default one.

    Returns:
        `identity` (what it rests on), `rule`, `index` from 0, `source`, `target` and `greedy` as lists of symbols,
        `first_error` (step from 1), `teacher_forced` and `free` (rows of `table_of`), `log_p` of both sequences, `beams`
        (see `beams_of`), `all_failures` (see `preferences`), `metrics` of the fixed and of the dynamic reader of this
        seed on the test part, `sequences` of that part, `config` (of lab, readers, optimiser and search), the SHA-256 of
        `checkpoint`, of both `checkpoints` and of `data`.
    """
    diagnosis: dict[str, Any] = run(Diagnosis() if config is None else config).metrics["diagnosis"][0]
    return diagnosis


def _both_ways(found: Failure, limit: int) -> dict[str, Any]:
    """Return the two paths and what both sequences score."""
    bos, eos = VOCABULARY.id(BOS), VOCABULARY.id(EOS)
    forced = found.reader.follow(found.source, [bos, *found.target[:-1]])
    free = found.reader.write(found.source, bos=bos, eos=eos, limit=limit)
    return {
        "teacher_forced": table_of(forced, found.target),
        "free": table_of(free, found.target),
        "log_p": {
            name: sequence_log_p(found.reader, found.source, written)
            for name, written in (("target", found.target), ("greedy", found.greedy))
        },
    }


def _metrics(lab: Mapping[str, Any], name: Reader, at: int) -> dict[str, Any]:
    """Return what one reader of the lab has on the test part; true histories over tokens, free ones over sequences."""
    nll, accuracy, tokens, exact, ended = (
        lab[f"{name}_{metric}"][at] for metric in ("nll", "accuracy", "tokens", "exact", "ended")
    )
    return {
        "teacher_forced": {"nll": nll, "accuracy": accuracy, "target_tokens": tokens},
        "free": {"exact": exact, "ended": ended},
    }


def _configuration(config: Diagnosis) -> dict[str, Any]:
    """Return all that the two readers and the search were given."""
    lab = config.lab
    return {
        **dataclasses.asdict(config),
        "readers": {name: dataclasses.asdict(reversal.reader_config(name)) for name in BOTH},
        "optimiser": {"name": "Adam", "betas": [0.9, 0.999], "epsilon": 1e-8}
        | {name: getattr(lab, name) for name in ("rate", "batch", "updates", "clip")},
        "search": {**SETTINGS, "widths": list(config.widths), "limit": lab.limit},
    }


def _symbol(token: int) -> str:
    return VOCABULARY.symbols[token]


def _text(ids: Ids) -> Letters:
    return tuple(_symbol(int(token)) for token in ids)
