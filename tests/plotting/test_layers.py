"""Layers over time."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from onesentence.plotting import draw_layers


def test_draw_layers_names_every_state_and_repeats_a_layers_name_along_time():
    figure, axes = plt.subplots()
    draw_layers(axes, ["我", "昨天", "给"], ["A", "B"])
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("A") == texts.count("B") == 2
    assert {"我", "昨天", "给", "$h_{3}^{(2)}$", "$h_{1}^{(1)}$"} <= set(texts)
    assert sum(text.startswith("$h") for text in texts) == 6
    colours = {text.get_color() for text in axes.texts if text.get_text() in ("A", "B")}
    assert len(colours) == 2
    plt.close(figure)


def test_draw_layers_refuses():
    figure, axes = plt.subplots()
    with pytest.raises(ValueError, match="inputs: expected at least one"):
        draw_layers(axes, [], ["A"])
    with pytest.raises(ValueError, match="layers: expected 1 to 4, got 5"):
        draw_layers(axes, ["我"], list("ABCDE"))
    plt.close(figure)
