"""Every failure of the reversal lab's dynamic readers, weighed by `seq2seq.diagnosis`: no new training.

Of each seed's reader all test sequences that greedy generation gets wrong are followed, scored, read again with one
thing changed, and searched with a wider beam. The twin of a source has another letter where the first wrong token
should have been read. As a control of the aimed read, the same step reads each of the other positions alone: it should
then write the letter that stands there. All in float64. Sections 3.12 to 3.16 and 3.20 of the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesentence.checks import checked_integer
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import paths, reversal
from onesentence.experiments.path_beams import search
from onesentence.experiments.reversal import ReversalLab
from onesentence.generate.hypotheses import Found, follow
from onesentence.seq2seq.diagnosis import SETTLES, Verdict, diagnose
from onesentence.seq2seq.evaluation import first_difference, labels_of, translate
from onesentence.seq2seq.observed import Observations
from onesentence.seq2seq.probes import observe, reading
from onesentence.seq2seq.reversal_teaching import TeachingReader
from onesentence.text.reversal import LETTERS, VOCABULARY
from onesentence.text.vocabulary import BOS, EOS

Ids = Sequence[int]


@dataclass(frozen=True)
class Verdicts:
    """Which failures.

    Attributes:
        lab: the experiment that trained the readers.
        width: of the beam that every failure is searched with again.
    """

    lab: ReversalLab = field(default_factory=ReversalLab)
    width: int = 4

    def __post_init__(self) -> None:
        checked_integer("width", self.width, 1)


def wanted(size: int) -> list[tuple[int, ...]]:
    """Return the source positions that each token of a reversed sequence depends on; EOS on none.

    Args:
        size: letters of the sequence, at least 1.

    Raises:
        TypeError, ValueError: if it is no such number.

    Example:
        >>> wanted(3)
        [(2,), (1,), (0,), ()]
    """
    checked_integer("size", size, 1)
    return [*((size - 1 - t,) for t in range(size)), ()]


def twin_of(source: Ids, position: int) -> list[int]:
    """Return the source with the next letter of the alphabet at a position, f before a.

    Args:
        source: ids of letters.
        position: from 0.

    Raises:
        TypeError, ValueError: if there is no such position, or no letter there.

    Example:
        >>> [VOCABULARY.symbols[i] for i in twin_of([VOCABULARY.id(x) for x in "baf"], 2)]
        ['b', 'a', 'a']
    """
    ids = list(source)
    if checked_integer("position", position, 0) >= len(ids):
        raise ValueError(f"position must lie in [0, {len(ids)}), got {position}")
    symbol = VOCABULARY.symbols[ids[position]]
    if symbol not in LETTERS:
        raise ValueError(f"source: expected a letter at {position}, got {symbol!r}")
    letter = LETTERS.index(symbol)
    ids[position] = VOCABULARY.id(LETTERS[(letter + 1) % len(LETTERS)])
    return ids


def seen_of(reader: TeachingReader, source: Ids, target: Ids, output: Ids, found: Found) -> Observations:
    """Make every observation of a failure of the lab.

    Args:
        reader: the model.
        source: ids.
        target: ids, EOS at the end.
        output: ids, EOS at the end if it came.
        found: a search with records; what it made of the target counts only where it returned this output.
    """
    first = first_difference(output, target)
    need = wanted(len(source))
    twin = None if first is None or not need[first] else twin_of(source, need[first][0])
    beam = [c.fate for c in follow(found, target)] if found.best.ids == tuple(output) else []
    bos = VOCABULARY.id(BOS)
    return observe(reader, source, target, output, bos=bos, wanted=need, twin=twin, beam=beam)


def default_case() -> tuple[Observations, Verdict]:
    """Return the observations of the sequence that `paths.reversal_diagnosis` follows, and their verdict."""
    config = paths.Diagnosis()
    case = paths.failure(config)
    width, limit = max(config.widths), config.lab.limit
    found = search(case.reader, case.source, width=width, limit=limit)
    source, target, output = (ids.tolist() for ids in (case.source, case.target, case.greedy))
    seen = seen_of(case.reader, source, target, output, found)
    return seen, diagnose(seen)


def fixed_case(config: paths.Diagnosis | None = None) -> tuple[TeachingReader, Observations]:
    """Return the fixed reader of a seed and what is observed of the first test sequence that it writes wrong.

    Args:
        config: the lab and the seed; None is the default. Trained again if the file is gone.

    Raises:
        ValueError: if the reader has all sequences right.
    """
    asked = paths.Diagnosis() if config is None else config
    lab, sizes, parts = asked.lab, reversal.reader_config("fixed"), reversal.parts_of(asked.lab.data)
    digest = reversal.run(lab).metrics["fixed_checkpoint"][lab.seeds.index(asked.seed)]
    file = reversal.checkpoint_file(digest)
    if file.exists():
        model = reversal.read_checkpoint(file, sizes)
    else:
        model, _ = reversal.trained(lab, parts, sizes, asked.seed)
    failed = paths.wrong_ones(model, parts.test, lab.limit)
    if not failed:
        raise ValueError(f"config: the fixed reader of seed {asked.seed} has all sequences right")
    (number, output), reader = failed[0], TeachingReader.from_torch(model)
    source = parts.test.source[number][parts.test.source_mask[number]].tolist()
    target = parts.test.labels[number][parts.test.mask[number]].tolist()
    found = search(reader, np.array(source), width=1, limit=lab.limit)
    return reader, seen_of(reader, source, target, output.tolist(), found)


@memoised
def run(config: Verdicts) -> Record:
    """Weigh all failures of all seeds.

    Args:
        config: which failures.

    Returns:
        Per seed, counts of sequences: `failures`; `status`, by explanation and status; `repaired`, returned right by
        the wider beam; `kept`, held whole by it and not returned; `first_step`, wrong from the first token on;
        `letters`, whose first wrong token should have been a letter; of these `aimed`, right when that letter's
        position is read alone, and `weights`, with most weight there. `control`: over all other positions that hold
        another letter, how often the aimed read wrote that one, and of how many. `later`: positions behind first
        errors, how many, wrong with the output's history, wrong with the target's.
    """
    test = reversal.parts_of(config.lab.data).test
    results = [_of_seed(config, seed, test) for seed in config.lab.seeds]
    return Record(
        name="verdicts",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.lab.seeds,
        metrics={name: [row[name] for row in results] for name in results[0]},
        data_hash=reversal.parts_of(config.lab.data).digest,
        versions=versions_of("numpy", "torch", "safetensors"),
    )


def _of_seed(config: Verdicts, seed: int, test: Any) -> dict[str, Any]:
    model, _ = paths.trained_reader(paths.Diagnosis(lab=config.lab, seed=seed))
    reader, limit = TeachingReader.from_torch(model), config.lab.limit
    names = ("failures", "repaired", "kept", "first_step", "letters", "aimed", "weights")
    counts: dict[str, Any] = dict.fromkeys(names, 0)
    status: dict[str, dict[str, int]] = {name: {} for name in SETTLES}
    control, later = np.zeros(2, dtype=int), np.zeros(3, dtype=int)
    written = translate(model, test, eos=VOCABULARY.id(EOS), limit=limit)
    for number, (row, target) in enumerate(zip(written, labels_of(test), strict=True)):
        if tuple(row.ids) == tuple(target):
            continue
        source = test.source[number][test.source_mask[number]].tolist()
        found = search(reader, np.array(source), width=config.width, limit=limit)
        seen = seen_of(reader, source, target, row.ids, found)
        verdict = diagnose(seen)
        for name in SETTLES:
            word = verdict.status(name)
            status[name][word] = status[name].get(word, 0) + 1
        counts["failures"] += 1
        place = next((i for i, text in enumerate(found.texts) if text.ids == tuple(target)), None)
        counts["repaired"] += place == 0
        counts["kept"] += bool(place)
        counts["first_step"] += verdict.first_error == 0
        if seen.aimed is not None and seen.weights is not None:
            counts["letters"] += 1
            counts["aimed"] += seen.aimed.likeliest == seen.target[verdict.first_error]
            counts["weights"] += int(np.argmax(seen.weights)) in seen.wanted and np.ptp(seen.weights) > 0
            control += aimed_elsewhere(reader, seen)
        if verdict.later is not None:
            later += (len(target) - verdict.first_error - 1, *verdict.later)
    return {**counts, "status": status, "control": control.tolist(), "later": later.tolist()}


def aimed_elsewhere(reader: TeachingReader, seen: Observations) -> tuple[int, int]:
    """Read each other position alone at the first wrong step: how often its letter is written, and of how many.

    Positions with the wanted letter are left out, they would tell nothing.

    Args:
        reader: the model.
        seen: a failure whose first wrong token should have been a letter.
    """
    state, fed = reader.start(seen.source), VOCABULARY.id(BOS)
    for token in seen.target[: seen.first_error]:
        _, state = reader.step(fed, state)
        fed = token
    others = [j for j, letter in enumerate(seen.source) if letter != seen.target[seen.first_error]]
    wrote = [int(reader.step(fed, reading(state, [j]))[0].argmax()) for j in others]
    return sum(wrote[k] == seen.source[j] for k, j in enumerate(others)), len(others)
