"""Which parameters a model has, as one short name: what a cache of keys and values remembers of who filled it.

The name is a hash of configuration, names, dtypes, shapes and bytes of all parameters, so a copy with equal numbers has the
same one, and so has the same model on another device. Hashing reads every byte; a decoding step cannot pay for that. So the
name is kept as long as nothing has changed that can be asked in microseconds: which tensors stand where in the modules,
where their numbers lie, and how often each was written to (its version counter).

Seen that way: steps of `torch.optim` and of `seq2seq.adam.Adam`, `load_state_dict`, edits under `no_grad`, `.double()`, a
parameter or module that was replaced. Not seen: writing through `.data`, which PyTorch hides from the counter. After that,
`torch.autograd.graph.increment_version` of the parameters, or `Fingerprint.forget`, has the name computed anew. Sections 7.1
and 7.2 of the course.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


def computed(model: nn.Module, config: object) -> str:
    """Return the name of a model's parameters, every byte of them read.

    Args:
        model: its parameters count, shared ones once; nothing else of it does.
        config: its printed form counts, so a frozen dataclass.

    Returns:
        32 hexadecimal digits.

    Example:
        >>> one, two = nn.Linear(2, 1), nn.Linear(2, 1)
        >>> _ = two.load_state_dict(one.state_dict())
        >>> computed(one, None) == computed(two, None), computed(one, None) == computed(one.double(), None)
        (True, False)
    """
    digest = hashlib.sha256(repr(config).encode())
    for name, parameter in model.named_parameters():
        digest.update(f"\0{name} {parameter.dtype} {tuple(parameter.shape)}\0".encode())
        digest.update(parameter.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class _Known:
    """A name, and what stood where when the parameters were read.

    Attributes:
        name: of the parameters.
        config: of the model.
        entries: what modules keep parameters and parts in.
        parts: what stood there, and under which name.
        tensors: each parameter; the same detached, which keeps the memory, so that no other parameter can come to lie at its
            address; the address; how often it had been written to.
    """

    name: str
    config: object
    entries: Sequence[dict[str, Any]]
    parts: Sequence[tuple[dict[str, Any], str, object]]
    tensors: Sequence[tuple[Tensor, Tensor, int, int]]

    @classmethod
    def of(cls, model: nn.Module, config: object) -> _Known:
        """Read a model; what is written to while it is read is seen as a change afterwards."""
        entries = [each for module in model.modules() for each in (module._parameters, module._modules)]
        parts = [(each, key, value) for each in entries for key, value in each.items()]
        tensors = [(each, each.detach(), each.data_ptr(), each._version) for each in model.parameters()]
        return cls(computed(model, config), config, entries, parts, tensors)

    def unchanged(self) -> bool:
        return (
            sum(map(len, self.entries)) == len(self.parts)
            and all(entries.get(key) is value for entries, key, value in self.parts)
            and all(
                each._version == version and each.data_ptr() == address
                for each, _, address, version in self.tensors
            )
        )


class Fingerprint:
    """The name of one model's parameters, kept while they are the same.

    Example:
        >>> layer, name = nn.Linear(2, 1), Fingerprint()
        >>> before = name.of(layer)
        >>> with torch.no_grad():
        ...     _ = layer.bias.add_(1)
        >>> name.of(layer) == before
        False
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have the name computed anew when it is asked for next."""
        self._known: _Known | None = None

    def of(self, model: nn.Module, config: object = None) -> str:
        """Return the name, as `computed`.

        Args:
            model: always the same one.
            config: of the model.
        """
        known = self._known  # all at once: another thread may ask and forget meanwhile
        if known is not None and config is known.config and known.unchanged():
            return known.name
        self.forget()
        if any(each.is_inference() for each in model.parameters()):
            return computed(model, config)  # no version counter in inference mode: every question reads all
        known = _Known.of(model, config)
        self._known = known
        return known.name

    def __deepcopy__(self, memo: object) -> Fingerprint:
        """Return one that knows nothing yet: a copy of a model has modules and tensors of its own."""
        return Fingerprint()

    def __reduce__(self) -> tuple[type[Fingerprint], tuple[()]]:
        return Fingerprint, ()
