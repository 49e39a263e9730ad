"""One layer and one direction taken out of a `torch.nn` recurrent module, for the cells' own `from_torch`.

`torch` names its weights `weight_ih_l1_reverse`: the kind, the layer counted from 0, the direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import torch

    Module = TypeVar("Module", torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM)


def torch_layer(module: Module, layer: int = 0, *, reverse: bool = False) -> Module:
    """Return a module with one layer and one direction, the weights copied.

    Args:
        module: any number of layers, one direction or two; no projection of the LSTM's state.
        layer: counted from 0, the lowest.
        reverse: True for the direction from right to left.

    Raises:
        ValueError: if the module has no such layer or direction, or projects its state.

    Example:
        >>> import torch
        >>> both = torch.nn.GRU(3, 4, num_layers=2, bidirectional=True)
        >>> torch_layer(both, 1, reverse=True)
        GRU(8, 4)
    """
    if not 0 <= layer < module.num_layers:
        raise ValueError(f"layer must lie in [0, {module.num_layers}), got {layer}")
    if reverse and not module.bidirectional:
        raise ValueError("reverse: the module has one direction only")
    if module.proj_size:
        raise ValueError(f"module: expected no projection, got proj_size={module.proj_size}")
    weights = module.state_dict()
    suffix = "_reverse" if reverse else ""
    width = weights[f"weight_ih_l{layer}{suffix}"].shape[1]
    options = {"nonlinearity": module.nonlinearity} if module.mode.startswith("RNN") else {}
    dtype = weights[f"weight_ih_l{layer}{suffix}"].dtype
    single = type(module)(
        width, module.hidden_size, bias=module.bias, batch_first=module.batch_first, dtype=dtype, **options
    )
    single.load_state_dict({name: weights[f"{name[:-1]}{layer}{suffix}"] for name in single.state_dict()})
    return single
