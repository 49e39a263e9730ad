"""One layer and direction of a torch module."""

from __future__ import annotations

import pytest
import torch

from onesentence.recurrent.torch_layer import torch_layer


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM])
@pytest.mark.parametrize("bias", [True, False])
def test_torch_layer_copies_the_weights(kind, bias):
    torch.manual_seed(0)
    module = kind(3, 4, num_layers=2, bidirectional=True, bias=bias, dtype=torch.float64)
    single = torch_layer(module, 1, reverse=True)
    assert (single.num_layers, single.bidirectional, single.input_size) == (1, False, 8)
    assert single.weight_ih_l0.dtype == torch.float64
    torch.testing.assert_close(single.weight_hh_l0, module.weight_hh_l1_reverse)
    assert single.weight_hh_l0.data_ptr() != module.weight_hh_l1_reverse.data_ptr()


def test_torch_layer_keeps_the_nonlinearity():
    assert torch_layer(torch.nn.RNN(3, 4, nonlinearity="relu")).nonlinearity == "relu"


def test_torch_layer_refuses():
    module = torch.nn.GRU(3, 4)
    with pytest.raises(ValueError, match=r"layer must lie in \[0, 1\), got 1"):
        torch_layer(module, 1)
    with pytest.raises(ValueError, match="reverse: the module has one direction only"):
        torch_layer(module, reverse=True)
    with pytest.raises(ValueError, match="expected no projection, got proj_size=2"):
        torch_layer(torch.nn.LSTM(3, 4, proj_size=2))
