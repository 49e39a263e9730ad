"""The window network: a value by hand, finite differences, torch's autograd, training, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.embed.network import WindowNetwork
from onesentence.embed.optim import SGD, Adam
from onesentence.embed.window_train import fit
from onesentence.numerics import numerical_gradient

NAMES = ("E", "W", "b", "U", "c")


def network(seed: int = 0, **sizes: int) -> WindowNetwork:
    full = {"table": 7, "window": 3, "embedding": 2, "hidden": 4, "outputs": 5} | sizes
    return WindowNetwork.initial(**full, rng=np.random.default_rng(seed))


IDS = [[0, 3, 3], [3, 1, 0], [6, 6, 6], [2, 3, 1]]
TARGETS = [4, 0, 2, 2]


def test_forward_by_hand() -> None:
    # z = (1, 0, 0, 1); W z + b = (0, ln 3 / 2) and tanh(ln 3 / 2) = 1/2; a = (ln 2 , 0) -> p = (2/3, 1/3)
    net = WindowNetwork(
        E=[[1.0, 0.0], [0.0, 1.0]],
        W=[[1.0, 5.0, 5.0, -1.0], [0.0, 7.0, 7.0, 0.0]],
        b=[0.0, np.log(3) / 2],
        U=[[9.0, 2 * np.log(2)], [-4.0, 0.0]],
        c=[0.0, 0.0],
    )
    done = net.forward([[0, 1]])
    assert done.z.tolist() == [[1, 0, 0, 1]]
    np.testing.assert_allclose(done.h, [[0.0, 0.5]], atol=1e-15)
    np.testing.assert_allclose(done.a, [[np.log(2), 0.0]], atol=1e-15)
    np.testing.assert_allclose(done.p, [[2 / 3, 1 / 3]], atol=1e-15)
    assert net.loss([[0, 1]], [1]) == pytest.approx(np.log(3))


def test_forward_widths_of_the_course() -> None:
    done = network(table=8, window=2, embedding=2, hidden=3, outputs=5).forward([[5, 6]])
    assert (done.z.shape, done.h.shape, done.a.shape, done.p.shape) == ((1, 4), (1, 3), (1, 5), (1, 5))


def test_forward_depends_on_order() -> None:
    p = network().forward([[1, 2, 3], [3, 2, 1]]).p
    assert np.abs(p[0] - p[1]).max() > 1e-3


def test_forward_of_no_window_is_empty() -> None:
    assert network().forward(np.empty((0, 3), dtype=int)).p.shape == (0, 5)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_equal_finite_differences(name: str) -> None:
    net = network()
    loss, gradients = net.gradients(IDS, TARGETS)
    assert loss == pytest.approx(net.loss(IDS, TARGETS), abs=1e-15)
    here = net.parameters()

    def loss_at(value: np.ndarray) -> float:
        return WindowNetwork(**{**here, name: value}).loss(IDS, TARGETS)

    np.testing.assert_allclose(gradients[name], numerical_gradient(loss_at, here[name]), atol=1e-8)


@pytest.mark.parametrize("window", [1, 2, 5])
def test_gradients_equal_autograd(window: int) -> None:
    torch.set_num_threads(1)
    net = network(seed=window, window=window, embedding=3, hidden=7)
    rng = np.random.default_rng(9)
    ids, targets = rng.integers(7, size=(11, window)), rng.integers(5, size=11)
    t = {name: torch.tensor(value, requires_grad=True) for name, value in net.parameters().items()}
    z = t["E"][torch.from_numpy(ids)].flatten(1)
    a = torch.tanh(z @ t["W"].T + t["b"]) @ t["U"].T + t["c"]
    theirs = torch.nn.functional.cross_entropy(a, torch.from_numpy(targets))
    theirs.backward()
    loss, gradients = net.gradients(ids, targets)
    assert loss == pytest.approx(theirs.item(), abs=1e-14)
    for name in NAMES:
        np.testing.assert_allclose(gradients[name], t[name].grad.numpy(), rtol=0, atol=1e-14)


def test_gradients_of_a_repeated_token_add_up() -> None:
    net = network(window=2)
    both = net.gradients([[4, 4]], [0])[1]["E"]
    twin = WindowNetwork(**{**net.parameters(), "E": np.vstack([net.E, net.E[4]])})  # row 7 equals row 4
    apart = twin.gradients([[4, 7]], [0])[1]["E"]
    np.testing.assert_allclose(both[4], apart[4] + apart[7], atol=1e-15)
    assert (np.delete(both, 4, axis=0) == 0).all()


def test_network_copies_its_arrays() -> None:
    E = np.ones((2, 1))
    net = WindowNetwork(E=E, W=[[1.0]], b=[0.0], U=[[1.0]], c=[0.0])
    E[:] = 5
    assert net.E.tolist() == [[1.0], [1.0]]


def test_size_counts_every_parameter() -> None:
    net = network()
    assert net.size == 7 * 2 + 4 * 6 + 4 + 5 * 4 + 5
    assert network(window=4).size - net.size == 4 * 2  # one more token costs H d weights


def test_initial_is_set_by_the_generator() -> None:
    for name in NAMES:
        np.testing.assert_array_equal(getattr(network(3), name), getattr(network(3), name))
    assert (network(3).E != network(4).E).all()


def test_fit_learns_and_leaves_the_start_alone() -> None:
    net, rng = network(), np.random.default_rng(0)
    before = net.E.copy()
    trained, losses = fit(net, IDS, TARGETS, optimiser=Adam(rate=0.05), epochs=80, batch=3, rng=rng)
    assert len(losses) == 80
    assert losses[-1] < 0.1 < losses[0]
    assert trained.forward(IDS).p.argmax(axis=1).tolist() == TARGETS
    np.testing.assert_array_equal(net.E, before)


def test_fit_one_full_batch_is_one_step() -> None:
    net = network()
    loss, gradients = net.gradients(IDS, TARGETS)
    rng = np.random.default_rng(0)
    trained, losses = fit(net, IDS, TARGETS, optimiser=SGD(rate=0.3), epochs=1, batch=4, rng=rng)
    assert losses == [pytest.approx(loss)]
    for name in NAMES:
        np.testing.assert_allclose(
            getattr(trained, name), getattr(net, name) - 0.3 * gradients[name], atol=1e-15
        )


def test_fit_never_moves_rows_that_no_window_reads() -> None:
    net, rng = network(), np.random.default_rng(0)
    trained, _ = fit(net, IDS, TARGETS, optimiser=Adam(), epochs=3, batch=2, rng=rng)
    assert set(range(7)) - {i for row in IDS for i in row} == {4, 5}
    np.testing.assert_array_equal(trained.E[[4, 5]], net.E[[4, 5]])


def test_fit_is_set_by_the_generator() -> None:
    def once() -> list[float]:
        rng = np.random.default_rng(5)
        return fit(network(), IDS, TARGETS, optimiser=Adam(), epochs=3, batch=2, rng=rng)[1]

    assert once() == once()


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("E", (7,), r"E must have shape \(V, d\)"),
        ("E", (0, 2), r"E must have shape \(V, d\)"),
        ("W", (4, 5), r"W must have shape \(H, k d\)"),
        ("W", (4, 0), r"W must have shape \(H, k d\)"),
        ("b", (3,), r"b must have shape \(4,\)"),
        ("U", (5, 3), r"U must have shape \(C, 4\)"),
        ("c", (4,), r"c must have shape \(5,\)"),
    ],
)
def test_network_refuses_shapes(name: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WindowNetwork(**{**network().parameters(), name: np.zeros(shape)})


def test_network_refuses_what_is_not_finite_or_real() -> None:
    with pytest.raises(ValueError, match="b must be finite"):
        WindowNetwork(**{**network().parameters(), "b": np.full(4, np.nan)})
    with pytest.raises(TypeError, match="c must hold real numbers"):
        WindowNetwork(**{**network().parameters(), "c": ["x"] * 5})


def test_initial_refuses_bad_sizes() -> None:
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        network(window=0)
    with pytest.raises(TypeError, match=r"hidden must be an integer, got 2\.0"):
        network(hidden=2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        WindowNetwork.initial(table=1, window=1, embedding=1, hidden=1, outputs=1, rng=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([[0, 1]], ValueError, r"ids must have shape \(N, 3\), got \(1, 2\)"),
        ([0, 1, 2], ValueError, r"ids must have shape \(N, 3\), got \(3,\)"),
        ([[0, 1, 7]], ValueError, r"ids must lie in \[0, 7\), got 7"),
        ([[0, -1, 2]], ValueError, r"ids must lie in \[0, 7\), got -1"),
        ([[0.0, 1.0, 2.0]], TypeError, "ids must hold integers"),
        ([[0, 1, 2], [0]], ValueError, "ids must be a regular array"),
    ],
)
def test_forward_refuses_ids(ids: list, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        network().forward(ids)


def test_loss_refuses_targets() -> None:
    net = network()
    with pytest.raises(ValueError, match=r"targets must have shape \(4,\)"):
        net.loss(IDS, [0])
    with pytest.raises(ValueError, match=r"targets must lie in \[0, 5\), got 5"):
        net.gradients(IDS, [0, 1, 2, 5])
    with pytest.raises(ValueError, match="at least one window"):
        net.loss(np.empty((0, 3), dtype=int), [])
    with pytest.raises(TypeError, match="targets must hold integers"):
        net.loss(IDS, [True] * 4)


def test_fit_refuses_bad_settings() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        fit(network(), IDS, TARGETS, optimiser=Adam(), epochs=0, batch=2, rng=rng)
    with pytest.raises(ValueError, match="batch must be at least 1"):
        fit(network(), IDS, TARGETS, optimiser=Adam(), epochs=1, batch=0, rng=rng)
    with pytest.raises(ValueError, match="at least one window"):
        fit(network(), np.empty((0, 3), int), [], optimiser=Adam(), epochs=1, batch=1, rng=rng)
