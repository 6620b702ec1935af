# SPDX-License-Identifier: BSL-1.0
"""The results of a study: how each metric correlates with execution time in each range of granularity (Grubel 2016, table 2),
and which grain each metric would have chosen (table 9)."""

import math
from dataclasses import dataclass, field

from ..kit.correlation import pearson, spearman
from ..kit.medians import ratio
from .metrics import BANDS, TABLE, Band, Metric, band_of

FEWEST_GRAINS = 3  # fewer give no meaningful correlation


@dataclass(frozen=True)
class Correlation:
    metric: Metric
    pearson: float  # over all samples, not their medians; None if undefined
    spearman: float


@dataclass(frozen=True)
class Range:
    """A range of granularity; without a band, all grains."""
    band: Band
    grains: int
    samples: int
    correlations: list  # empty where there are fewer than three grains


@dataclass(frozen=True)
class Choice:
    """The best grain by a metric: the one with the least median."""
    metric: Metric
    grain: int
    time: float    # the median execution time there
    slower: float  # time / the best time - 1


@dataclass
class Best:
    grain: int
    time: float  # its median
    equally_good: list = field(default_factory=list)  # other grains whose fastest run is within this one's slowest
    choices: list = field(default_factory=list)


def _compared(study, workers):
    """The metrics that are compared and have values."""
    return [metric for metric in TABLE if metric.is_compared and study.knows(workers, metric.key)]


def _range(band, samples, metrics):
    grains = len({sample.grain for sample in samples})
    found = Range(band, grains, len(samples), [])
    if grains >= FEWEST_GRAINS:
        times = [sample.values["time_s"] for sample in samples]
        for metric in metrics:
            values = [sample.values[metric.key] for sample in samples]
            found.correlations.append(Correlation(metric, pearson(values, times), spearman(values, times)))
    return found


def correlate(study, workers):
    """The ranges that contain a grain; the range of all grains comes last."""
    metrics, samples = _compared(study, workers), study.of(workers)
    bands = {grain: band_of(study.least_disturbed_duration(grain)) for grain in study.grains}
    parts = [(band, [sample for sample in samples if bands[sample.grain] is band]) for band in BANDS]
    return [_range(band, within, metrics) for band, within in parts if within] + [_range(None, samples, metrics)]


def _least(study, workers, key):
    """The grain with the least median; None when none is known."""
    medians = [(study.summary_of(workers, grain, key).median, grain) for grain in study.grains]
    return min(((median, grain) for median, grain in medians if math.isfinite(median)), default=(None, None))[1]


def find_best(study, workers):
    """The Best for that number of workers; None without a sample."""
    grain = _least(study, workers, "time_s")
    if grain is None:
        return None
    fastest = study.summary_of(workers, grain, "time_s")
    best = Best(grain, fastest.median)
    best.equally_good = [other for other in study.grains
                         if other != grain and study.summary_of(workers, other, "time_s").least <= fastest.most]
    for metric in _compared(study, workers):
        chosen = _least(study, workers, metric.key)
        time = study.summary_of(workers, chosen, "time_s").median
        best.choices.append(Choice(metric, chosen, time, ratio(time, best.time) - 1))
    return best
