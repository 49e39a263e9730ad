"""The encoder in two directions: torch's own bidirectional layer, packed, and padding."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from onesentence.seq2seq.two_way_encoder import TwoWayEncoder


def test_forward_equals_torchs_packed_bidirectional_layer_with_gradients():
    torch.manual_seed(0)
    encoder, whole = (
        TwoWayEncoder(3, 4).double(),
        nn.LSTM(3, 4, batch_first=True, bidirectional=True).double(),
    )
    weights = {f"{name}_reverse": w for name, w in encoder.back.named_parameters()}
    whole.load_state_dict({**encoder.forth.state_dict(), **weights})
    x, lengths = torch.randn(4, 6, 3, dtype=torch.float64), torch.tensor([6, 2, 1, 5])
    mask = torch.arange(6) < lengths[:, None]
    one, other = (x.clone().requires_grad_() for _ in range(2))
    states, ends = encoder(one, mask)
    packed = pack_padded_sequence(other, lengths, batch_first=True, enforce_sorted=False)
    out, (h, _) = whole(packed)
    expected, _ = pad_packed_sequence(out, batch_first=True)
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(ends, torch.cat([h[0], h[1]], dim=1), rtol=0, atol=1e-12)
    probe = torch.randn_like(states)
    (states * probe).sum().backward()
    (expected * probe).sum().backward()
    torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        encoder.back.weight_hh_l0.grad, whole.weight_hh_l0_reverse.grad, rtol=0, atol=1e-12
    )


def test_parameters_are_as_many_as_those_of_a_bidirectional_layer():
    whole = nn.LSTM(16, 16, bidirectional=True)
    count = [sum(p.numel() for p in module.parameters()) for module in (TwoWayEncoder(16, 16), whole)]
    assert count == [4352, 4352]
