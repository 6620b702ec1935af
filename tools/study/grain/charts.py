# SPDX-License-Identifier: BSL-1.0
"""Execution time and related metrics against the grain, as in the figures of Grubel 2016, chapter 5."""

import math

from ..kit.line_chart import Chart, Flag, Point, Region, Series
from .findings import find_best
from .metrics import BY_KEY, band_of
from .words import count_of_workers

FLAGS = {"overall_s": "overall", "idle_rate_percent": "idle-rate", "cumulative_s": "cumulative", "management_s": "TM",
         "management_and_wait_s": "TM+WT"}

# For each number of workers: title, names of the curves by metric, whether the ordinate is logarithmic.
DRAWN = (
    ("Execution time and what is lost, per core",
     {"time_s": "execution time", "management_and_wait_s": "TM + WT", "management_s": "task management (TM)",
      "wait_s": "wait time (WT)"}, False),
    ("Idle-rate and its parts, and what was lost to other programs",
     {"idle_rate_percent": "idle-rate", "overhead_rate_percent": "overhead-rate",
      "starvation_rate_percent": "starvation-rate", "lost_rate_percent": "lost"}, False),
    ("A task", {"duration_us": "duration", "overhead_us": "overhead", "wait_us": "wait time, where positive"}, True),
    ("Pending queues", {"pending_accesses": "accesses", "pending_misses": "misses"}, True),
)


def _series(study, workers, key, name):
    shown_as, points = BY_KEY[key].shown_as, []
    for grain in study.grains:
        found = study.summary_of(workers, grain, key)
        if found.count:
            median, least, most = map(shown_as.text, (found.median, found.least, found.most))
            points.append(Point(grain, shown_as.in_unit(found.median), shown_as.in_unit(found.least),
                                shown_as.in_unit(found.most), f"{name}, {study.name} {grain}: {median} ({least} to {most})"))
    return Series(name, points)


def _regions(study):
    """The ranges of granularity along the abscissa; a border lies between the grains of two ranges."""
    regions, previous = [], 0
    for grain in study.grains:
        band = band_of(study.least_disturbed_duration(grain))
        if band is None:
            continue
        if not regions:
            regions.append(Region(grain / 2, grain, band.name))
        elif regions[-1].name != band.name:
            regions[-1].end = math.sqrt(previous * grain)
            regions.append(Region(regions[-1].end, grain, band.name))
        regions[-1].end = 2 * grain
        previous = grain
    return regions


def _flags(study, workers):
    """Metrics that choose the same grain share a flag."""
    best = find_best(study, workers)
    if best is None:
        return []
    names = {best.grain: ["best"]}
    chosen = {choice.metric.key: choice.grain for choice in best.choices}
    for key, name in FLAGS.items():
        if key in chosen:
            names.setdefault(chosen[key], []).append(name)
    return [Flag(grain, ", ".join(names[grain])) for grain in sorted(names)]


def overview(study):
    """Execution time for all numbers of workers, with the grains that metrics would have chosen."""
    most = study.workers[-1]
    return Chart(f"Execution time; what would have been chosen on {count_of_workers(most)}", study.name, "s", True, 1240, 380,
                 [_series(study, workers, "time_s", count_of_workers(workers)) for workers in study.workers],
                 _regions(study), _flags(study, most))


def charts_of(study, workers):
    """Time with its parts, rates, durations and queue accesses, for one number of workers; only known values."""
    charts = []
    for title, names, has_log_y in DRAWN:
        series = [_series(study, workers, key, name) for key, name in names.items()]
        unit = BY_KEY[next(iter(names))].shown_as.unit
        charts.append(Chart(title, study.name, unit, has_log_y, series=[each for each in series if each.points],
                            regions=_regions(study)))
    return charts
