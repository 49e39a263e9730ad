"""Keys and values that a decoder has computed once and reads again; modules are imported by name. No model is known here.

    base          what every cache promises; `stepping`, `slots` and `new_tokens` do what several have in common
    contiguous    a fixed number of slots a row                growing    enlarges itself
    paged         rows take pages from one pool                window     the latest tokens only, for a model with a window
    source        of an encoder's output, for cross-attention
    prefix        what of a cache outlives an edit

A model makes the sizes, and `transformer.session` keeps tokens and cache together, so that an edit cannot leave keys of
the old text behind:

    cache = ContiguousCache(model.cache_sizes(rows=1), capacity=64)        PagedCache(sizes, page_count=8, page_size=16)
    session = Session(model, cache)                                        GrowingCache(sizes), WindowCache(sizes, window)

Without a model, as the models themselves use one: `cache.base` and the examples of each cache.
"""
