"""The diagram of an encoder and a decoder in time."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from onesentence import plotting


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


@pytest.mark.parametrize("inject", [False, True])
def test_draw_encoder_decoder_has_a_state_for_each_unit_and_one_more_than_steps(inject):
    figure = plotting.draw_encoder_decoder(
        ["我", "走", "。"], ["BOS", "I", "go"], ["I", "go", "EOS"], inject=inject
    )
    drawn = texts(figure)
    assert [f"$h_{{{j}}}$" in drawn for j in (1, 2, 3, 4)] == [True, True, True, False]
    assert [f"$s_{{{i}}}$" in drawn for i in (1, 2, 3, 4)] == [True, True, True, False]
    assert "$s_0$" in drawn
    assert ("$s_0=g(c_{src})$" in drawn, "$c_{src}$" in drawn) == (not inject, inject)
    assert figure.get_size_inches()[0] <= 4.8
    plt.close(figure)


def test_draw_encoder_decoder_inject_reaches_every_step():
    fed, chosen = ["BOS", "I", "go"], ["I", "go", "EOS"]
    arrows = []
    for inject in (False, True):
        figure = plotting.draw_encoder_decoder(["我"], fed, chosen, inject=inject)
        arrows.append(len(figure.axes[0].texts) - len(texts(figure)))
        plt.close(figure)
    assert arrows[1] - arrows[0] == len(fed) - 1  # one into each step instead of one into s_0


@pytest.mark.parametrize(
    "arguments", [([], ["BOS"], ["I"]), (["我"], [], []), (["我"], ["BOS"], ["I", "go"])]
)
def test_draw_encoder_decoder_refuses(arguments):
    with pytest.raises(ValueError, match="fed and predicted must have one length from 1 up"):
        plotting.draw_encoder_decoder(*arguments)
