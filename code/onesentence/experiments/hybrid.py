"""A Transformer and a hybrid with its encoder, trained alike; then both translate sources that arrive unit by unit.

Corpus and parts are those of `fixed_translator`. The encoders have the same sizes; the decoder is one block of
attention, or one LSTM that reads. What is measured while a source arrives is that of `generate.retranslation`: the
translator was trained on whole sentences only and translates every prefix anew. Section 4.16 of the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from onesentence.checks import checked_integer
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_case
from onesentence.experiments.fixed_translator import Data, FixedTranslator, data_of
from onesentence.generate.bleu import bleu
from onesentence.generate.retranslation import average_lagging, displays, erased, final_at
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.evaluation import exact_of, labels_of, translate
from onesentence.seq2seq.live import prefix_translations
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.seq2seq.translator import Translator
from onesentence.text.translation_config import VARIANTS
from onesentence.text.translation_corpus import TranslationCorpus
from onesentence.text.vocabulary import BOS, EOS, PAD, UNK
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.hybrid import Hybrid, HybridConfig
from onesentence.transformer.translator import TransformerTranslator

Decoder = Literal["attention", "recurrent"]
AnyTranslator = Translator[Any, Any]
WATCHED = ("running", "question")
"""Variants of the running sentence whose versions are kept."""


@dataclass(frozen=True)
class Hybrids:
    """What is trained, and how it is shown.

    Attributes:
        corpus: sizes and seed of the corpus; nothing else of it is used. Rate and warm-up were chosen on dev of corpus
            0, for both decoders the same, so the default corpus is new to them.
        decoders: what stands on the target's side.
        width, n_head, d_ff, layers: of the encoder; an attention decoder has one block of these sizes, a recurrent one
            embeddings and states of this width.
        updates, batch, rate, warm_up, clip: as `Training`.
        every: updates between two points of the learning curve, which is of dev.
        limit: largest number of choices per sentence.
        live: test sentences that arrive unit by unit.
        masks: numbers of last tokens that a display leaves out; `limit` shows nothing before the end.
        seeds: of parameters and order.
    """

    corpus: FixedTranslator = field(default_factory=FixedTranslator)
    decoders: tuple[Decoder, ...] = get_args(Decoder)
    width: int = 64
    n_head: int = 4
    d_ff: int = 128
    layers: int = 2
    updates: int = 200
    batch: int = 64
    rate: float = 5e-3
    warm_up: int = 100
    clip: float = 1.0
    every: int = 50
    limit: int = 16
    live: int = 100
    masks: tuple[int, ...] = (0, 1, 2, 3, 4, 6, 16)
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        for name in ("decoders", "masks", "seeds"):
            if not getattr(self, name):
                raise ValueError(f"{name} must not be empty, got {getattr(self, name)}")
        checked_integer("limit", self.limit, 1)
        checked_integer("live", self.live, 1)
        if self.live > self.corpus.test:
            raise ValueError(f"live must be at most {self.corpus.test}, the test part, got {self.live}")
        if self.every < 1 or self.updates % self.every:
            raise ValueError(f"every must divide updates = {self.updates}, got {self.every}")


def model_of(config: Hybrids, corpus: TranslationCorpus, decoder: Decoder, seed: int) -> AnyTranslator:
    """Return a translator before training."""
    source, target = corpus.source_vocabulary, corpus.target_vocabulary
    if decoder == "recurrent":
        blocks = {"n_head": config.n_head, "d_ff": config.d_ff, "layers": config.layers}
        return Hybrid.initial(HybridConfig.over(source, target, width=config.width, **blocks), seed=seed)
    sizes = TransformerConfig(
        source_size=len(source),
        target_size=len(target),
        d_model=config.width,
        n_head=config.n_head,
        d_ff=config.d_ff,
        encoder_layers=config.layers,
        decoder_layers=1,
        barred=tuple(target.id(symbol) for symbol in (PAD, BOS, UNK)),
    )
    return TransformerTranslator.initial(sizes, seed=seed)


def live_measures(
    versions: Sequence[Sequence[Sequence[Any]]], masks: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Return what displays of these versions cost, a value per mask.

    Args:
        versions: for each sentence the translations of its prefixes, one a source unit.
        masks: numbers of last tokens that are not shown.

    Returns:
        Tokens withdrawn per token of the final texts, and the mean of the sentences' average lagging in source units;
        of a sentence whose final text is empty, that is its length.

    Example:
        >>> live_measures([["I .".split(), "I go .".split()]], [0, 9])
        ([0.3333333333333333, 0.0], [1.1666666666666667, 2.0])
    """
    words = max(sum(len(texts[-1]) for texts in versions), 1)
    erasure, lag = [], []
    for k in masks:
        shown = [displays(texts, k) for texts in versions]
        erasure.append(sum(map(erased, shown)) / words)
        delays = [average_lagging(final_at(s), S=len(s)) if s[-1] else len(s) for s in shown]
        lag.append(float(np.mean(delays)))
    return erasure, lag


def train_one(config: Hybrids, data: Data, case: tuple[Decoder, int]) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        data: of `fixed_translator.data_of`.
        case: decoder and seed.
    """
    decoder, seed = case
    model = model_of(config, data.corpus, decoder, seed)
    eos = data.corpus.target_vocabulary.id(EOS)
    curve: list[float] = []

    def exact(part: Batch) -> float:
        return exact_of(translate(model, part, eos=eos, limit=config.limit), part).share

    def watch(update: int) -> None:
        if update % config.every == 0:
            curve.append(exact(data.dev))

    train(model, data.train, Training.of(config), np.random.default_rng([seed, 1]), watch)
    return {
        "curve": curve,
        "nll": label_scores(model, data.test).nll,
        "exact": exact(data.test),
        "parameters": sum(p.numel() for p in model.parameters()),
        **_live(config, data, model),
    }


@memoised
def run(config: Hybrids) -> Record:
    """Train every decoder with every seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<decoder>_<metric>`. `curve`: share of dev sentences generated exactly, every `every` updates from
        0 on. Of the test part: `nll`, nats per label with true histories; `exact`, share generated exactly.
        `parameters`: their number. Of its first `live` sentences: `bleu` of the final texts; `erasure` and `lag`, by
        kind (all, statements, questions) and mask, as `live_measures`. `versions`: of `WATCHED`, each prefix's text.
    """
    data = data_of(config.corpus)
    return Record(
        name="hybrid",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_case(
            {decoder: (decoder,) for decoder in config.decoders},
            config.seeds,
            partial(train_one, config, data),
        ),
        data_hash=data.corpus.digest,
        versions=versions_of("numpy", "torch"),
    )


def _live(config: Hybrids, data: Data, model: AnyTranslator) -> dict[str, Any]:
    words, chosen = data.corpus.target_vocabulary, data.test.rows(np.arange(config.live))
    ask = {"eos": words.id(EOS), "limit": config.limit}
    versions = prefix_translations(model, chosen, **ask)
    asked = [example.event.question for example in data.corpus.test[: config.live]]
    kinds = {
        "all": versions,
        "statements": [texts for texts, question in zip(versions, asked, strict=True) if not question],
        "questions": [texts for texts, question in zip(versions, asked, strict=True) if question],
    }
    measures = {kind: live_measures(texts, config.masks) for kind, texts in kinds.items() if texts}
    finals = [" ".join(words.decode(texts[-1])) for texts in versions]
    references = [[" ".join(words.decode(row[:-1]))] for row in labels_of(chosen)]
    rows = [VARIANTS.index(name) for name in WATCHED]
    watched = prefix_translations(model, data.running.rows(rows), **ask)
    return {
        "bleu": bleu(finals, references, tokenisation="none").score,
        "erasure": {kind: erasure for kind, (erasure, _) in measures.items()},
        "lag": {kind: lag for kind, (_, lag) in measures.items()},
        "versions": {
            name: [" ".join(words.decode(text)) for text in texts]
            for name, texts in zip(WATCHED, watched, strict=True)
        },
    }
