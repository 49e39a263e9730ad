"""Sigmoid and softplus against PyTorch, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.activations import sigmoid, softplus


@given(st.floats(-700, 700))
def test_sigmoid_and_softplus_agree_with_torch(x):
    exact = torch.tensor(x, dtype=torch.float64)
    np.testing.assert_allclose(sigmoid(x), torch.sigmoid(exact).item(), rtol=0, atol=1e-15)
    log_sigmoid = torch.nn.functional.logsigmoid(-exact).item()
    np.testing.assert_allclose(softplus(x), -log_sigmoid, rtol=0, atol=1e-12)


def test_sigmoid_keeps_float32_and_refuses_words():
    assert sigmoid(np.zeros(2, dtype=np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match="x must hold real numbers"):
        sigmoid(["a"])
