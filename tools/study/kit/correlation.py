# SPDX-License-Identifier: BSL-1.0
"""Correlations of two rows of numbers. Pairs with an unknown number are left out."""

import math

FEWEST_PAIRS = 3  # two points are always on a line


def _known_pairs(x, y):
    pairs = [(a, b) for a, b in zip(x, y) if math.isfinite(a) and math.isfinite(b)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _centred(values):
    """The distances from the mean."""
    mean = sum(values) / len(values)
    return [v - mean for v in values]


def _product(a, b):
    return sum(x * y for x, y in zip(a, b))


def pearson(x, y):
    """Pearson's product-moment correlation, from -1 to 1. None for fewer than three known pairs, or where one side does not
    vary. Two passes keep it accurate under large offsets."""
    x, y = _known_pairs(x, y)
    if len(x) < FEWEST_PAIRS or min(x) == max(x) or min(y) == max(y):
        return None
    a, b = _centred(x), _centred(y)
    lengths = math.sqrt(_product(a, a)) * math.sqrt(_product(b, b))
    r = _product(a, b) / lengths if lengths else math.nan
    return min(1.0, max(-1.0, r)) if math.isfinite(r) else None


def ranks(values):
    """1 for the smallest. Equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for place in order[first:end]:
            result[place] = (first + end + 1) / 2  # ranks first + 1 to end
        first = end
    return result


def spearman(x, y):
    """Spearman's rank correlation: Pearson's of the ranks, so that only the order counts. None where Pearson's is None."""
    x, y = _known_pairs(x, y)
    return pearson(ranks(x), ranks(y))
