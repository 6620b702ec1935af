# SPDX-License-Identifier: BSL-1.0
"""A study as tables on a terminal, and as CSV."""

import math

from .findings import correlate, find_best
from .metrics import BY_KEY, PERCENT, SECONDS, TABLE, band_of
from .words import count_of_runs, count_of_workers, loss_as_words, noise_as_words

HEADS = {"time_s": "time s", "tasks": "tasks", "duration_us": "task µs", "overhead_us": "ovh. µs", "idle_rate_percent": "idle %",
         "starvation_rate_percent": "starv. %", "lost_rate_percent": "lost %", "management_s": "TM s", "wait_us": "wait µs",
         "wait_s": "WT s", "management_and_wait_s": "TM+WT s", "pending_accesses": "p-access", "pending_misses": "p-miss"}


def aligned(rows, left=0, words_last=False):
    """Rows of words as lines, each column as wide as needed. The first `left` columns and, with `words_last`, the last one are
    left-aligned; a row may be shorter than the first one."""
    columns = len(rows[0])
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(columns)]
    lines = []
    for row in rows:
        cells = [word.ljust(widths[i]) if i < left or (words_last and i + 1 == columns) else word.rjust(widths[i])
                 for i, word in enumerate(row)]
        lines.append("  " + "  ".join(cells))
    return "".join(line.rstrip(" ") + "\n" for line in lines)


def _medians(study, workers):
    keys = [key for key in HEADS if study.knows(workers, key)]
    rows = [[study.name, *(HEADS[key] for key in keys), "range"]]
    for grain in study.grains:
        time = study.summary_of(workers, grain, "time_s")
        if time.count:
            medians = [BY_KEY[key].shown_as.bare(study.summary_of(workers, grain, key).median) for key in keys]
            band = band_of(study.least_disturbed_duration(grain))
            rows.append([str(grain), *medians, band.name if band else "?"])
            rows[-1].insert(2, PERCENT.text(time.spread))  # after the time, which is always known
    rows[0].insert(2, "spread")
    return f"\n{count_of_workers(workers)}\n{aligned(rows, words_last=True)}"


def _choices(study, workers):
    best = find_best(study, workers)
    if best is None:
        return ""
    text = f"\nbest, {count_of_workers(workers)}: {study.name} {best.grain}, {SECONDS.text(best.time)}"
    if best.equally_good:
        text += f"; within the spread of that: {', '.join(map(str, best.equally_good))}"
    rows = [["least", study.name, "time s", "slower"]]
    rows += [[c.metric.title, str(c.grain), SECONDS.bare(c.time), PERCENT.text(c.slower)] for c in best.choices]
    return f"{text}\n{aligned(rows, left=1)}"


def _pair(correlation):
    return "/".join("-" if r is None else f"{r:.2f}" for r in (correlation.pearson, correlation.spearman))


def _correlations(study, workers):
    ranges = correlate(study, workers)
    if not ranges[-1].correlations:
        return ""
    rows = [["task duration", "", "grains", *(c.metric.name for c in ranges[-1].correlations)]]
    for found in ranges:
        name, limits = (found.band.name, found.band.limits) if found.band else ("all", "")
        rows.append([name, limits, str(found.grains), *(map(_pair, found.correlations) if found.correlations else ["too few"])])
    return (f"\ncorrelation with execution time, {count_of_workers(workers)}: Pearson/Spearman, of all runs\n"
            f"{aligned(rows, left=2)}")


def as_text(study):
    runs = count_of_runs(study.repetitions) + ("" if study.is_complete else ", not all of which were made")
    text = f"{study.command}\n{study.machine}; medians of {runs}; execution time: {study.time_from}\n"
    text += "".join(f"{words}\n" for words in (noise_as_words(study), loss_as_words(study)) if words)
    text += f"without a value: {' '.join(study.missing)}\n" if study.missing else ""
    there = [workers for workers in study.workers if study.of(workers)]
    text += "".join(_medians(study, workers) for workers in there)
    return text + "".join(_choices(study, workers) + _correlations(study, workers) for workers in there)


def _plain(value):
    """The shortest digits that denote this number; empty if unknown."""
    return repr(value).removesuffix(".0") if math.isfinite(value) else ""


def as_csv(study):
    """A line per run."""
    lines = [["workers", study.name, "repetition", *(metric.key for metric in TABLE)]]
    for s in study.samples:
        values = (metric.shown_as.in_unit(s.values[metric.key]) for metric in TABLE)
        lines.append([str(s.workers), str(s.grain), str(s.repetition), *map(_plain, values)])
    return "".join(",".join(line) + "\n" for line in lines)
