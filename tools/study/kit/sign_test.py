# SPDX-License-Identifier: BSL-1.0
"""The two-sided sign test on pairs: the probability that one of two equals wins so often by chance. It assumes nothing about
the distribution of times, and one slow round weighs no more than another."""

import math

SHOWN = 0.05  # a difference counts as shown below this probability


def p_value(wins, losses):
    """The probability that a fair coin splits at least as unevenly. The caller leaves out draws."""
    count = wins + losses
    tail = sum(math.comb(count, i) for i in range(min(wins, losses) + 1))
    return min(1.0, 2.0 * tail / 2.0 ** count)


def fewest_rounds():
    """The fewest pairs that can show a result, if one side wins every time."""
    return next(n for n in range(1, 100) if p_value(n, 0) < SHOWN)


def score(first, second, higher_is_better=False):
    """(wins of the second, wins of the first) over pairs of values; a draw counts for neither."""
    pairs = list(zip(first, second, strict=True))
    larger, smaller = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    return (larger, smaller) if higher_is_better else (smaller, larger)
