# SPDX-License-Identifier: BSL-1.0
"""Medians and spreads of measured numbers. An unknown value is NaN, never zero, and is left out."""

import math
import statistics
from dataclasses import dataclass

UNKNOWN = math.nan


def ratio(a, b):
    """a / b; UNKNOWN where b is 0."""
    return a / b if b != 0 else UNKNOWN


@dataclass(frozen=True)
class Summary:
    """Of the known numbers; UNKNOWN if there are none."""
    median: float = UNKNOWN
    least: float = UNKNOWN
    most: float = UNKNOWN
    count: int = 0

    @property
    def spread(self):
        """(most - least) / median."""
        return ratio(self.most - self.least, self.median)


def summarize(values):
    """The Summary of some numbers."""
    known = [v for v in values if math.isfinite(v)]
    return Summary(statistics.median(known), min(known), max(known), len(known)) if known else Summary()


def interquartile_spread(values):
    """The interquartile range / the median; None for fewer than two values, or when the median is not positive."""
    if len(values) < 2 or statistics.median(values) <= 0:
        return None
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle
