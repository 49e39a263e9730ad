"""Adam over the parameters of a model: PyTorch's own function without its optimiser class.

The first `torch.optim.Adam` of a process imports PyTorch's compiler, which takes longer than many runs of this book; the
function that the class calls does not. The numbers are the class's, to the bit. Kingma and Ba 2014 (arXiv:1412.6980),
algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from torch.autograd.graph import increment_version
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim.adam import adam


class Adam:
    """Adam with PyTorch's defaults but for the rate: beta = (0.9, 0.999), epsilon = 1e-8.

    Args:
        parameters: changed in place.
        rate: step size.

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimiser = Adam([weight], rate=0.1)
        >>> (weight**2).sum().backward()
        >>> optimiser.step()
        >>> round(weight.item(), 4), weight.grad is None
        (0.9, True)
    """

    def __init__(self, parameters: Iterable[nn.Parameter], rate: float) -> None:
        self.parameters, self.rate = list(parameters), rate
        self.first, self.second = (
            [torch.zeros_like(each, memory_format=torch.preserve_format) for each in self.parameters]
            for _ in range(2)
        )
        self.steps = [torch.zeros((), dtype=torch.float32) for _ in self.parameters]

    def step(self, clip: float = torch.inf) -> None:
        """Take a step with the gradients that the parameters hold, and drop them; those without one stay as they are.

        Args:
            clip: largest norm of all gradients together; a longer one is scaled down to it.
        """
        used = [i for i, each in enumerate(self.parameters) if each.grad is not None]
        parameters = [self.parameters[i] for i in used]
        grads = [each.grad for each in parameters if each.grad is not None]
        if clip < torch.inf:
            norm = get_total_norm(grads)
            if not norm < clip - 1e-6:  # else the factor would be 1
                clip_grads_with_norm_(parameters, clip, norm)
        with torch.no_grad():
            adam(
                list(parameters),  # a list of tensors, as the function wants it
                grads,
                [self.first[i] for i in used],
                [self.second[i] for i in used],
                [],
                [self.steps[i] for i in used],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.rate,
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )
        increment_version(parameters)  # the fused function changes numbers without telling
        for each in parameters:
            each.grad = None
