# SPDX-License-Identifier: BSL-1.0
"""A study as JSON: runs, medians, correlations and choices, with the keys of the CSV."""

import json
import math

from .findings import correlate, find_best
from .metrics import TABLE


def _number(value):
    """A number for JSON: null if unknown, no decimal point without a fraction."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == math.floor(value) and abs(value) < 1e16 else value


def _values(value_of):
    """All metrics in their units, from a function of the key."""
    return {metric.key: _number(metric.shown_as.in_unit(value_of(metric.key))) for metric in TABLE}


def _runs(study):
    return [{"workers": s.workers, "grain": s.grain, "repetition": s.repetition, **_values(s.values.__getitem__)}
            for s in study.samples]


def _medians(study):
    rows = []
    for workers in study.workers:
        for grain in study.grains:
            time = study.summary_of(workers, grain, "time_s")
            if time.count:
                values = _values(lambda key: study.summary_of(workers, grain, key).median)
                rows.append({"workers": workers, "grain": grain, "runs": time.count, "least_time_s": _number(time.least),
                             "most_time_s": _number(time.most), **values})
    return rows


def _correlations(study):
    return [{"workers": workers, "range": found.band.name if found.band else "all", "grains": found.grains,
             "runs": found.samples, "metric": c.metric.key, "pearson": _number(c.pearson), "spearman": _number(c.spearman)}
            for workers in study.workers if study.of(workers)
            for found in correlate(study, workers) for c in found.correlations]


def _best(study):
    rows = []
    for workers in study.workers:
        best = find_best(study, workers)
        if best:
            choices = [{"metric": c.metric.key, "grain": c.grain, "time_s": _number(c.time),
                        "slower_percent": _number(100 * c.slower)} for c in best.choices]
            rows.append({"workers": workers, "grain": best.grain, "time_s": _number(best.time),
                         "equally_good": best.equally_good, "choices": choices})
    return rows


def as_json(study):
    everything = {
        "command": study.command, "grain": study.name, "machine": study.machine, "cpus": study.cpus,
        "repetitions": study.repetitions, "time_from": study.time_from, "complete": study.is_complete,
        "noise_percent": _number(100 * study.noise()), "without_value": study.missing, "runs": _runs(study),
        "medians": _medians(study), "correlations": _correlations(study), "best": _best(study)}
    text = json.dumps(everything, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode(errors="replace").decode() + "\n"  # JSON is UTF-8: invalid bytes become '?'
