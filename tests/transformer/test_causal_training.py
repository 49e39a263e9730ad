"""A causal model learns a text by heart and says it again by its cache."""

from __future__ import annotations

import numpy as np
import torch

from onesentence.cache.growing import GrowingCache
from onesentence.generate.loss import token_loss
from onesentence.generate.shift import shifted_batch
from onesentence.seq2seq.training import Training
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.causal_training import causal_scores, train_causal
from onesentence.transformer.session import Session

PAD, BOS, EOS = 0, 1, 2
TEXTS = [[3, 4, 5, 6, 3, 7, 4], [8, 4, 4, 9], [9, 3, 3, 3, 5, 5]]
DATA = shifted_batch(TEXTS, pad=PAD, bos=BOS, eos=EOS)
CONFIG = CausalConfig(10, d_model=16, n_head=4, n_kv_head=2, d_ff=32)


def test_train_causal_learns_texts_that_the_cache_says_again() -> None:
    model = CausalLM.initial(CONFIG, seed=0)
    before = model.fingerprint()
    losses = train_causal(model, DATA, Training(updates=150, batch=3, rate=1e-2), np.random.default_rng(0))
    assert losses[0] > 2
    assert losses[-1] < 0.05 + np.log(3) / (
        DATA.mask.sum() / 3
    )  # all but the first token of each text is certain
    assert model.fingerprint() != before
    session = Session(model, GrowingCache(model.cache_sizes(3)))
    starts = [[BOS, text[0]] for text in TEXTS]
    for text, written in zip(TEXTS, session.generate(starts, eos=EOS, limit=9), strict=True):
        assert written.ids == (*text[1:], EOS)
        assert written.ended


def test_causal_scores_are_those_of_the_logits() -> None:
    model = CausalLM.initial(CONFIG, seed=1).eval()
    scores = causal_scores(model, DATA)
    with torch.no_grad():
        logits = model(
            torch.from_numpy(DATA.inputs), real=torch.from_numpy(DATA.mask)
        )  # BOS as real as what follows
    np.testing.assert_allclose(scores.nll, token_loss(logits, DATA.labels, DATA.mask).mean, rtol=1e-6)
    assert (scores.losses[~DATA.mask] == 0).all()
    longer = shifted_batch(TEXTS, pad=PAD, bos=BOS, eos=EOS, length=13)
    np.testing.assert_allclose(causal_scores(model, longer).nll, scores.nll, rtol=1e-6)
