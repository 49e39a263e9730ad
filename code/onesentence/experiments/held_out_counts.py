"""The models that count, in the comparison on held-out text: fitted on the training text, tuned on the choosing text.

BOS is never predicted, EOS always, and nothing is padded. Sections 1.6 to 1.8 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence

from onesentence.experiments.held_out_data import HeldOut, Texts, as_characters
from onesentence.text.interpolation import Interpolated, fit_weights
from onesentence.text.kneser_ney import KneserNey, estimate_discount
from onesentence.text.language_model import ContextModel
from onesentence.text.ngram import AddAlpha, MaximumLikelihood
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, Vocabulary

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Pseudo-counts to choose from."""

LEAST = 1e-4
"""Weight of the uniform distribution in the interpolation, at least."""


def loss_per_token(model: ContextModel, sentences: Sequence[Sequence[str]]) -> float:
    """Return the mean negative log probability in nats per predicted token, EOS counted; `inf` where one is 0."""
    total = -sum(model.log_prob_sentence(words) for words in sentences)
    return total / sum(len(words) + 1 for words in sentences)


def count_models(config: HeldOut, texts: Texts) -> dict[str, ContextModel]:
    """Fit the word models that count; parameters are chosen on the choosing text."""
    vocabulary = Vocabulary.from_sentences(texts.train, specials=[BOS, EOS])
    counts = NgramCounts.of(texts.train, config.order, vocabulary)
    smoothed = [AddAlpha(counts, alpha) for alpha in ALPHAS]
    return {
        "mle": MaximumLikelihood(counts),
        "add_alpha": min(smoothed, key=lambda model: loss_per_token(model, texts.choose)),
        "interpolated": Interpolated(counts, fit_weights(counts, texts.choose, least=LEAST).weights),
        "kneser_ney": KneserNey(counts, estimate_discount(counts)),
    }


def character_model(config: HeldOut, texts: Texts) -> ContextModel:
    """Fit the model that reads characters instead of words."""
    return KneserNey(NgramCounts.of(as_characters(texts.train), config.characters), 0.75)
