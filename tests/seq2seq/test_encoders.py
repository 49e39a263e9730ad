"""The recurrent encoders beside torch's own packed layers, with padding on either side."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from onesentence.seq2seq.encoders import Encoder, SourceLayers

LENGTHS = torch.tensor([6, 2, 1, 5])
KINDS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


@pytest.mark.parametrize("side", ["right", "left", "both"])
@pytest.mark.parametrize("two_way", [False, True])
@pytest.mark.parametrize("cell", KINDS)
def test_source_layers_equal_torchs_packed_layer_with_gradients(cell, two_way, side):
    torch.manual_seed(0)
    layers = SourceLayers(inputs=3, hidden=4, cell=cell, two_way=two_way).double()
    whole = KINDS[cell](3, 4, batch_first=True, bidirectional=two_way).double()
    back = layers.back.named_parameters() if two_way else ()
    whole.load_state_dict({**layers.forth.state_dict(), **{f"{name}_reverse": w for name, w in back}})
    x, places = torch.randn(4, 6, 3, dtype=torch.float64), torch.arange(8)
    before = {"right": torch.zeros(4), "left": 8 - LENGTHS, "both": (8 - LENGTHS) // 2}[side].long()[:, None]
    mask = (places >= before) & (places < before + LENGTHS[:, None])
    own = torch.full((4, 8, 3), 9.0, dtype=torch.float64)  # what is padded is not looked at
    real = torch.arange(6) < LENGTHS[:, None]
    own[mask] = x[real]
    one, other = own.requires_grad_(), x.requires_grad_()
    encoded = layers(one, mask)
    out, last = whole(pack_padded_sequence(other, LENGTHS, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(out, batch_first=True)
    h = last[0] if isinstance(last, tuple) else last
    torch.testing.assert_close(encoded.states[mask], expected[real], rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded.summary, torch.cat([*h], dim=1), rtol=0, atol=1e-12)
    assert not encoded.states[~mask].any()
    assert encoded.mask is mask
    probe = torch.randn_like(encoded.states[mask])
    (encoded.states[mask] * probe).sum().backward()
    (expected[real] * probe).sum().backward()
    torch.testing.assert_close(one.grad[mask], other.grad[real], rtol=0, atol=1e-12)
    assert not one.grad[~mask].any()
    names = ["forth", "back"] if two_way else ["forth"]
    theirs = [whole.weight_hh_l0.grad, whole.weight_hh_l0_reverse.grad if two_way else None]
    for name, gradient in zip(names, theirs, strict=False):
        torch.testing.assert_close(getattr(layers, name).weight_hh_l0.grad, gradient, rtol=0, atol=1e-12)


def test_source_layers_have_as_many_parameters_as_a_bidirectional_layer():
    whole = nn.LSTM(16, 16, bidirectional=True)
    layers = SourceLayers(inputs=16, hidden=16, cell="lstm", two_way=True)
    assert [sum(p.numel() for p in module.parameters()) for module in (layers, whole)] == [4352, 4352]


def test_encoder_reads_one_embedding_from_each_end():
    encoder = Encoder(vocabulary=7, embedding=5, hidden=4, cell="gru", two_way=True).double()
    source = torch.tensor([[3, 4, 5]])
    encoded = encoder(source, torch.ones_like(source, dtype=torch.bool))
    back, _ = encoder.layers.back(encoder.embedding(source.flip(1)))
    torch.testing.assert_close(encoded.states[..., 4:], back.flip(1), rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded.summary[..., 4:], encoded.states[:, 0, 4:], rtol=0, atol=0)
    torch.testing.assert_close(encoded.summary[..., :4], encoded.states[:, -1, :4], rtol=0, atol=0)


def test_encoder_one_way_states_do_not_know_later_units_and_two_way_states_do():
    changed = {}
    for two_way in (False, True):
        encoder = Encoder(vocabulary=7, embedding=5, hidden=4, cell="lstm", two_way=two_way)
        real = torch.ones(1, 3, dtype=torch.bool)
        one, other = (encoder(torch.tensor([ids]), real).states for ids in ([3, 4, 5], [3, 4, 6]))
        changed[two_way] = bool((one[:, 0] != other[:, 0]).any())
    assert changed == {False: False, True: True}
