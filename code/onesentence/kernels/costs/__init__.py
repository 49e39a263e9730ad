"""What attention multiplies, moves and keeps: by formula, and counted on a machine with two memories. No device is known here.

products, tiles     multiplications; which tiles of the score table are visited
traffic             bytes between HBM and the chip, by formula; `counted` and `counted_backward` run it on `hbm`
kv_bytes            bytes of a cache, and units; `kept_bytes` what is kept for the gradients
roofline            which ceiling is met first

>>> from onesentence.kernels.costs.tiles import Tiles
>>> from onesentence.kernels.costs.traffic import Widths, flash2_forward, naive_forward
>>> from onesentence.kernels.sizes import Sizes
>>> sizes = Sizes(B=1, H=1, G=1, T=1024, S=1024, D=64)
>>> naive_forward(sizes, Widths(element=2)).total, flash2_forward(sizes, Tiles(128, 64), Widths(element=2)).total
(8912896, 2363392)
"""
