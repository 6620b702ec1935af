# SPDX-License-Identifier: BSL-1.0
"""The two-sided sign test on pairs: how likely is it that one of two equals wins so often by chance? It assumes nothing of how
times are distributed, and one slow round weighs no more than another."""

import math

SHOWN = 0.05  # the probability below which a difference counts as shown


def p_value(wins, losses):
    """The probability that a fair coin splits as unevenly, or more so. Draws are to be left out."""
    count = wins + losses
    tail = sum(math.comb(count, i) for i in range(min(wins, losses) + 1))
    return min(1.0, 2.0 * tail / 2.0 ** count)


def fewest_rounds():
    """With fewer no result can be shown, not even when one wins every time."""
    return next(n for n in range(1, 100) if p_value(n, 0) < SHOWN)


def score(first, second, higher_is_better=False):
    """(wins of the second, wins of the first) over pairs of values; a draw counts for neither."""
    pairs = list(zip(first, second, strict=True))
    larger, smaller = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    return (larger, smaller) if higher_is_better else (smaller, larger)
