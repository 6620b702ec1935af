# SPDX-License-Identifier: BSL-1.0
"""Random arrays that are the same for any number of workers: each element is a function of the seed and its place. In trees
and outside. The numbers are not those of NumPy's generators; equal seeds give equal arrays, so each call needs its own.

    import quern

    noise = quern.random.normal(0.0, 1.0, (100, 3), seed=1)
"""

from .frontend import backend


def random(size, seed):
    """float64 from 0 to below 1. size: an integer or a tuple; seed: an integer from 0."""
    return backend.core().call_primitive("random", size, seed)


def normal(loc, scale, size, seed):
    """float64 of the normal distribution with mean `loc` and standard deviation `scale`."""
    return backend.core().call_primitive("normal", loc, scale, size, seed)


def integers(low, high, size, seed):
    """int64 from `low` to below `high`."""
    return backend.core().call_primitive("integers", low, high, size, seed)


def permutation(x, seed):
    """The numbers from 0 to below x, or the rows of an array, in another order."""
    return backend.core().call_primitive("permutation", x, seed)


for _function in (random, normal, integers, permutation):
    _function.quern_primitive = _function.__name__
del _function
