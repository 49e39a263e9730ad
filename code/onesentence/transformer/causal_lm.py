"""A decoder-only model: what has been read so far says what may come next, all of it at once or on top of a cache.

    x_0 = sqrt(C) E[token]      x_l = block_l(x_{l-1})      logits = LN(x_L) E^T

A block is causal self-attention with grouped queries, then a feed-forward layer, each within an `AddNorm`. `forward` reads
whole texts, as training does; `extend` reads new tokens behind those that a cache holds, as prefill (many) and decode (one)
do. Both give the same logits for every way of cutting a text up. Padding is taken out of a row before it is read, so it may
stand anywhere and positions count tokens only.

With `order="post"` there is no last LN. The decoder of Vaswani et al. 2017 (arXiv:1706.03762) without its cross-attention,
as in Liu et al. 2018 (arXiv:1801.10198), section 4.2.3. Symbols: `B` rows, `T` tokens of this call, `C` width, `V`
vocabulary. Sections 7.1 to 7.4 of the course.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from onesentence.cache.base import CacheSizes, KVCache, Seen
from onesentence.transformer.block import AddNorm
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.embedding import checked_tokens
from onesentence.transformer.feed_forward import FeedForward
from onesentence.transformer.fingerprint import Fingerprint
from onesentence.transformer.grouped_attention import GroupedAttention
from onesentence.transformer.norms import LayerNorm
from onesentence.transformer.readers import Reader, reader_of
from onesentence.transformer.rotary import Rotary, Turns


class CausalBlock(nn.Module):
    """Causal self-attention, then FFN, each within an `AddNorm`.

    Args:
        config: sizes and design.
    """

    def __init__(self, config: CausalConfig) -> None:
        super().__init__()
        C = config.d_model
        self.attention = GroupedAttention(C, config.n_head, config.key_heads)
        self.ffn = FeedForward(C, config.d_ff)
        self.around_attention, self.around_ffn = (AddNorm(C, config.order, config.dropout) for _ in range(2))

    def forward(
        self, x: Tensor, turns: Turns | None, put: Callable[[Tensor, Tensor], Seen], read: Reader
    ) -> Tensor:
        """Return (B, T, C); arguments as `GroupedAttention`."""
        u = self.around_attention(x, lambda y: self.attention(y, turns, put, read))
        out: Tensor = self.around_ffn(u, self.ffn)
        return out


class CausalLM(nn.Module):
    """The model; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> model = CausalLM.initial(CausalConfig(5, d_model=8, n_head=2, n_kv_head=1, d_ff=16), seed=0)
        >>> tuple(model(torch.tensor([[1, 2, 3]])).shape)
        (1, 3, 5)
    """

    def __init__(self, config: CausalConfig) -> None:
        super().__init__()
        self.config, C = config, config.d_model
        self.tokens = nn.Embedding(config.vocabulary, C)
        nn.init.normal_(self.tokens.weight, std=C**-0.5)  # as `embedding.InputEmbedding`
        self.dropout = nn.Dropout(config.dropout) if config.dropout else None
        self.rotary = Rotary(config.head_size, base=config.rope_base) if config.positions == "rope" else None
        self.blocks = nn.ModuleList(CausalBlock(config) for _ in range(config.layers))
        self.last = LayerNorm(C) if config.order == "pre" else nn.Identity()
        self.head = None if config.tied else nn.Linear(C, config.vocabulary, bias=False)
        self._fingerprint = Fingerprint()

    @classmethod
    def initial(cls, config: CausalConfig, *, seed: int) -> Self:
        """Draw the parameters as PyTorch's layers do by default; the global generator is left as it was.

        Args:
            config: sizes and design.
            seed: of the parameters.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config)

    def forward(self, ids: Tensor, *, real: Tensor | None = None, reader: str = "sdpa") -> Tensor:
        """Read whole texts.

        Args:
            ids: (B, T); not looked at where `real` is False.
            real: True at tokens, (B, T), padding anywhere; None means that all are.
            reader: which code executes attention, a name of `readers.READERS`.

        Returns:
            Logits (B, T, V) of what comes after each token; those at padding mean nothing and are for the loss to leave out.

        Raises:
            TypeError: if ids are not integers or `real` is not boolean.
            ValueError: if a shape does not fit, an id lies outside the vocabulary, there is no such reader, or it cannot
                read through a window.
        """
        read = reader_of(reader)
        ids = self._checked(ids, real)
        if real is None or bool(real.all()):
            return self._logits(self._whole(ids, read))
        order = (
            (~real.to(ids.device)).int().argsort(dim=1, stable=True)
        )  # tokens first: causal order then hides the padding
        x = self._whole(ids.gather(1, order), read)
        return self._logits(x.gather(1, order.argsort(dim=1)[..., None].expand_as(x)))

    def extend(
        self, ids: Tensor, cache: KVCache, *, real: Tensor | None = None, reader: str = "sdpa"
    ) -> Tensor:
        """Read new tokens behind those that a cache holds, and put them into it; no gradients.

        If anything goes wrong, the cache is as it was.

        Args:
            ids: (B, T); not looked at where `real` is False.
            cache: of earlier calls of this model with these parameters, or an empty one.
            real: as `forward`; a row may have no token.
            reader: as `forward`.

        Returns:
            Logits (B, T, V), those at padding meaning nothing.

        Raises:
            TypeError: as `forward`.
            ValueError: as `forward`; and if the cache is for a model of other sizes, another window, dtype or device, was
                filled by other parameters, or has no room; or if dropout is on, so that no two passes agree.
        """
        read = reader_of(reader)
        self.check_cache(cache)
        with torch.inference_mode():  # for a single token an eighth faster than `no_grad`
            logits = self._extended(ids, cache, real, read)
        return logits.clone()  # which may be used in training, too

    def _extended(self, ids: Tensor, cache: KVCache, real: Tensor | None, read: Reader) -> Tensor:
        ids = self._checked(ids, real)
        if real is None:
            real = torch.ones(ids.shape, dtype=torch.bool)  # on the CPU: nothing to wait for
        step = cache.open(real, self.check_owner(cache))
        turns = None
        if self.rotary is not None:
            turns = self.rotary(step.positions, self.tokens.weight, last=step.longest - 1)
        x = self._embedded(ids)
        for i, block in enumerate(self.blocks):
            x = block(x, turns, lambda k, v, i=i: step.put(i, k, v), read)
        logits = self._logits(x)
        step.commit()
        return logits

    def cache_sizes(self, rows: int) -> CacheSizes:
        """Return what a cache for this model, its dtype and device is made for.

        Args:
            rows: B.
        """
        config, like = self.config, self.tokens.weight
        return CacheSizes(
            config.layers, rows, config.key_heads, config.head_size, like.dtype, str(like.device)
        )

    def check_cache(self, cache: KVCache) -> None:
        """Refuse a cache that was made for a model of other sizes, another dtype, kind of device or window, or any in training.

        Raises:
            TypeError: if it is no cache.
            ValueError: as said; in training if there is dropout.
        """
        if not isinstance(cache, KVCache):
            raise TypeError(f"cache must be a KVCache, got {type(cache).__name__}")
        if self.training and self.config.dropout:
            raise ValueError(
                "model must be in evaluation mode to use a cache, as it has dropout: call eval()"
            )
        config, like, sizes = self.config, self.tokens.weight, cache.sizes
        own = (config.layers, config.key_heads, config.head_size, like.dtype, like.device.type, config.window)
        kind = sizes.device.partition(":")[0]
        its = (sizes.layers, sizes.heads, sizes.head_size, sizes.dtype, kind, cache.window)
        if own == its:
            return
        names = ("layers", "heads", "head_size", "dtype", "device", "window")
        name, needed, got = next(each for each in zip(names, own, its, strict=True) if each[1] != each[2])
        raise ValueError(f"cache must have {name} = {needed} like the model, got {got}")

    def check_owner(self, cache: KVCache) -> str:
        """Return the name of the parameters after checking that a cache holds nothing of others.

        Raises:
            ValueError: if it does.
        """
        name = self.fingerprint()
        if cache.owner not in (None, name):
            raise ValueError(
                f"cache must hold keys and values of the parameters {name} that the model has now, got those of "
                f"{cache.owner}: reset every row, or take a new cache"
            )
        return name

    def fingerprint(self, *, again: bool = False) -> str:
        """Return the name of the parameters, by which a cache knows them.

        Args:
            again: read every parameter even if none seems to have changed: after writing through `.data`.
        """
        if again:
            self._fingerprint.forget()
        return self._fingerprint.of(self, self.config)

    def _whole(self, ids: Tensor, read: Reader) -> Tensor:
        """Return the last block's (B, T, C) for texts without padding in front."""
        T, window = ids.shape[1], self.config.window
        places = torch.arange(T, device=ids.device)
        turns = None if self.rotary is None else self.rotary(places, self.tokens.weight)
        mask = None
        if window is not None and window < T:
            back = places[:, None] - places  # (T, T)
            mask = (back >= 0) & (back < window)
        x = self._embedded(ids)
        for block in self.blocks:
            x = block(x, turns, lambda k, v: Seen(k, v, mask, causal=mask is None), read)
        return x

    def _embedded(self, ids: Tensor) -> Tensor:
        x: Tensor = self.tokens(ids) * self.config.d_model**0.5
        return x if self.dropout is None else self.dropout(x)

    def _logits(self, x: Tensor) -> Tensor:
        weight = self.tokens.weight if self.head is None else self.head.weight
        return nn.functional.linear(self.last(x), weight)

    def _checked(self, ids: Tensor, real: Tensor | None) -> Tensor:
        """Return ids with 0 at padding."""
        if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
            got = ids.dtype if isinstance(ids, Tensor) else type(ids).__name__
            raise TypeError(f"ids must be a tensor of int64 or int32, got {got}")
        if ids.ndim != 2:
            raise ValueError(f"ids must have shape (B, T), got {tuple(ids.shape)}")
        if real is not None:
            if real.dtype != torch.bool:
                raise TypeError(f"real must be boolean (True = a token), got {real.dtype}")
            if real.shape != ids.shape:
                raise ValueError(
                    f"real must have the shape of ids, {tuple(ids.shape)}, got {tuple(real.shape)}"
                )
            ids = ids.masked_fill(~real.to(ids.device), 0)
        checked_tokens("ids", ids, self.config.vocabulary)
        return ids
