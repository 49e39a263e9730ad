"""The Transformer translator with one thing taken away, one seed each.

    no_positions   neither side adds positions; the decoder still has its causal mask
    no_cross       decoder blocks do not read the source, so this is no translator, but a language model of the target
    no_shift       the decoder is given the label itself as its input, in training and with true histories
    no_mask        target positions read later ones too, in training and with true histories

The last two leak the answer. The leak is there whenever the target is given, also on test sentences; generation, where
there is no target to give, is without it. `accuracy_elsewhere` gives each test target the source of another sentence:
what stays right was not read from the source. Sections 4.6, 4.11 and 4.12 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.fixed_translator import Data, data_of
from onesentence.experiments.translations import RECIPIENT_KINDS, failures, kinds, recipient_kind, written
from onesentence.experiments.translator import Translator, elsewhere, plan_of, sizes_of
from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.training import label_scores, logits_of, train
from onesentence.text.translation_config import VARIANTS
from onesentence.text.translation_corpus import TranslationCorpus
from onesentence.transformer.attention_layer import KeysValues, MultiHeadAttention
from onesentence.transformer.block import DecoderBlock
from onesentence.transformer.translator import TransformerTranslator

Ablation = Literal["whole", "no_positions", "no_cross", "no_shift", "no_mask"]

PERMUTED: tuple[int, int] = (VARIANTS.index("running"), VARIANTS.index("swapped"))
"""Two sentences of the same units in another order, of other meaning."""


@dataclass(frozen=True)
class Ablations:
    """What is trained.

    Attributes:
        base: the translator; its seeds and updates are not used.
        updates: of every ablation.
        ablations: which ones.
        seed: of parameters and order.
    """

    base: Translator = field(default_factory=Translator)
    updates: int = 125
    ablations: tuple[Ablation, ...] = ("no_positions", "no_cross", "no_shift", "no_mask")
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := [name for name in self.ablations if name not in get_args(Ablation)]:
            raise ValueError(
                f"ablations: expected some of {', '.join(get_args(Ablation))}, got {unknown[0]!r}"
            )
        if not self.ablations:
            raise ValueError(f"ablations must not be empty, got {self.ablations}")
        if self.updates < 1:
            raise ValueError(f"updates must be at least 1, got {self.updates}")


class SeesAll(MultiHeadAttention):
    """Self-attention that is asked for a causal mask and applies none."""

    def attend(
        self, q: Tensor, kv: KeysValues, *, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Read all keys; see `MultiHeadAttention.attend`."""
        return super().attend(q, kv, mask=mask)


def model_of(
    config: Translator, corpus: TranslationCorpus, ablation: Ablation, seed: int
) -> TransformerTranslator:
    """Return a translator before training, its parameters those of the whole one as far as it has them."""
    taken: dict[str, dict[str, Any]] = {"no_positions": {"positions": "none"}, "no_cross": {"cross": False}}
    changed = taken.get(ablation, {})
    model = TransformerTranslator.initial(sizes_of(config, corpus, **changed), seed=seed)
    if ablation == "no_mask":
        for block in model.decoder.blocks:
            assert isinstance(block, DecoderBlock)
            with torch.random.fork_rng(devices=[]):
                everywhere = SeesAll(config.d_model, config.n_head)
            everywhere.load_state_dict(block.attention.state_dict())
            block.attention = everywhere
    return model


def unshifted(part: Batch) -> Batch:
    """Return the pairs with each label as the input of its own position."""
    return dataclasses.replace(part, inputs=part.labels)


def train_one(config: Ablations, data: Data, ablation: Ablation) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        data: of `fixed_translator.data_of`.
        ablation: what is taken away.
    """
    base, corpus, words = config.base, data.corpus, data.corpus.target_vocabulary
    model = model_of(base, corpus, ablation, config.seed)

    def given(part: Batch) -> Batch:
        return unshifted(part) if ablation == "no_shift" else part

    plan = plan_of(base, config.updates)
    losses = train(model, given(data.train), plan, np.random.default_rng([config.seed, 1]))
    scores = label_scores(model, given(data.test))
    test, running = (written(model, part, words, limit=base.limit) for part in (data.test, data.running))
    return {
        "loss": losses,
        "nll": scores.nll,
        "accuracy": scores.accuracy,
        "accuracy_elsewhere": label_scores(model, elsewhere(given(data.test))).accuracy,
        "exact": test.exact,
        "bleu": test.bleu,
        "different": len(set(test.texts)),
        "kinds": kinds(corpus.test, test, recipient_kind(corpus.config.people), RECIPIENT_KINDS),
        "failures": failures(corpus.test, test, base.shown),
        "running": list(running.texts),
        "apart": float(_permuted_apart(model, data.running)),
    }


@memoised
def run(config: Ablations) -> Record:
    """Train every ablation with the one seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<ablation>_<metric>`, a list of one value, for the one seed. `loss`: of each update. Of the test
        part with true histories: `nll`, nats per label; `accuracy`; `accuracy_elsewhere`, with the source of
        `translator.elsewhere`. Of its greedy generation: `exact`, `bleu`, `different`, the number of different texts,
        `kinds`, counts by `RECIPIENT_KINDS`, and `failures`, the first few. `running`: what became of the running
        sentence and its variants. `apart`: largest difference of a logit between the sources of `PERMUTED`, the target
        of the first given.
    """
    data = data_of(config.base.corpus)
    results = seeds.over(config.ablations, partial(train_one, config, data))
    metrics = {
        f"{ablation}_{name}": [value]
        for ablation, result in zip(config.ablations, results, strict=True)
        for name, value in result.items()
    }
    return Record(
        name="translator_ablations",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=(config.seed,),
        metrics=metrics,
        data_hash=data.corpus.digest,
        versions=versions_of("numpy", "torch"),
    )


@torch.no_grad()
def _permuted_apart(model: TransformerTranslator, running: Batch) -> float:
    one, other = PERMUTED
    rows = running.rows([one, other])
    same = dataclasses.replace(rows, inputs=np.stack([rows.inputs[0]] * 2))
    logits: FloatArray = logits_of(model, same).numpy()
    free = np.isfinite(logits[0])
    return float(np.abs(logits[0][free] - logits[1][free]).max())
