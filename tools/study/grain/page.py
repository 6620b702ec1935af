# SPDX-License-Identifier: BSL-1.0
"""A study as one self-contained HTML page. Every chart has a table with the same numbers."""

import math

from ..kit.line_chart import as_svg
from ..kit.markup import document, escape, scroll
from .charts import charts_of, overview
from .findings import correlate, find_best
from .metrics import MICROSECONDS, PERCENT, SECONDS, TABLE, band_of
from .words import count_of_runs, count_of_workers, loss_as_words, noise_as_words

GOOD = 0.05  # slowdown against the best grain that still counts as good
HOW_TO_READ = (
    "Grains of the same range cost about the same to manage; within one, a metric with a correlation near 1 goes along with "
    "execution time, and the grain where it is least is a good one. TM: what the workers spend on managing tasks, per worker. WT: "
    "what tasks take longer than on one worker, for caches and memory that they share with others; times their number, per worker. "
    "Idle-rate holds managing and having nothing to do alike. After P. A. Grubel, Dynamic Adaptation in HPX, 2016, chapters 5 and "
    "7; ranges by the duration of a task on one worker, as in her table 7, very coarse as in her table 2.")


def _figure(chart):
    drawn = as_svg(chart)
    return f"<figure><figcaption>{escape(chart.title)}</figcaption>{scroll(chart.title, drawn)}</figure>" if drawn else ""


def _answer(study, workers, best):
    """The answer in a sentence."""
    text = f"<p>Best: {escape(study.name)} <strong>{best.grain}</strong>, {SECONDS.text(best.time)}"
    duration = study.summary_of(workers, best.grain, "duration_us").median
    text += f", tasks of {MICROSECONDS.text(duration)}." if math.isfinite(duration) else "."
    if best.equally_good:
        text += f" Within the spread of its runs: {', '.join(map(str, best.equally_good))}."
    return text + "</p>"


def _choices(study, best):
    rows = f'<tr class="best"><th>execution time</th><td>{best.grain}</td><td>{SECONDS.text(best.time)}</td><td></td></tr>'
    for c in best.choices:
        slower = f"{100 * c.slower:+.1f} %" if math.isfinite(c.slower) else "–"
        rows += (f"<tr><th>{escape(c.metric.title)}</th><td>{c.grain}</td><td>{SECONDS.text(c.time)}</td>"
                 f'<td class="{"good" if c.slower < GOOD else "bad"}">{slower}</td></tr>')
    return scroll("Choices", f'<table><thead><tr><th class="words">where this is least</th><th>{escape(study.name)}</th>'
                  f"<th>time</th><th>slower than the best</th></tr></thead><tbody>{rows}</tbody></table>")


def _correlation_row(found, columns):
    name = f'{found.band.name} <span class="soft">{found.band.limits}</span>' if found.band else "all"
    row = f"<tr><th>{name}</th><td>{found.grains}</td><td>{found.samples}</td>"
    for c in found.correlations:
        pair = ["–" if r is None else f"{r:.3f}" for r in (c.pearson, c.spearman)]
        row += f'<td>{pair[0]} <span class="soft">{pair[1]}</span></td>'
    if not found.correlations:
        row += f'<td colspan="{columns}" class="words soft">fewer than three grains</td>'
    return row + "</tr>"


def _correlations(study, workers):
    ranges = correlate(study, workers)
    metrics = [c.metric for c in ranges[-1].correlations]
    if not metrics:
        return '<p class="soft">Fewer than three grains: no correlations.</p>'
    head = '<th class="words">task duration</th><th>grains</th><th>runs</th>' + "".join(
        f'<th title="{escape(metric.title)}">{escape(metric.name)}</th>' for metric in metrics)
    body = "".join(_correlation_row(found, len(metrics)) for found in ranges)
    return ('<h3>Correlation with execution time: Pearson <span class="soft">Spearman</span></h3>'
            + scroll("Correlations", f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"))


def _median_row(study, workers, grain, metrics, is_best):
    cells = "".join(f"<td>{metric.shown_as.bare(study.summary_of(workers, grain, metric.key).median)}</td>" for metric in metrics)
    spread = PERCENT.bare(study.summary_of(workers, grain, "time_s").spread)
    band = band_of(study.least_disturbed_duration(grain))
    return (f'<tr{" class=" + chr(34) + "best" + chr(34) if is_best else ""}><th>{grain}</th>{cells}<td>{spread}</td>'
            f'<td class="words">{band.name if band else ""}</td></tr>')


def _medians(study, workers, best):
    metrics = [metric for metric in TABLE if study.knows(workers, metric.key)]
    head = f"<th>{escape(study.name)}</th>" + "".join(
        f"<th>{escape(metric.title)}<br>{metric.shown_as.unit}</th>" for metric in metrics)
    body = "".join(_median_row(study, workers, grain, metrics, grain == best) for grain in study.grains
                   if study.summary_of(workers, grain, "time_s").count)
    table = (f'<table class="medians"><thead><tr>{head}<th>spread of time<br>%</th><th class="words">range</th></tr></thead>'
             f"<tbody>{body}</tbody></table>")
    return f"<details><summary>All medians</summary>{scroll('Medians', table)}</details>"


def _section(study, workers):
    best = find_best(study, workers)
    if best is None:
        return ""
    charts = "".join(map(_figure, charts_of(study, workers)))
    return (f"<h2>{count_of_workers(workers)}</h2>{_answer(study, workers, best)}{_choices(study, best)}"
            f'<div class="charts">{charts}</div>{_correlations(study, workers)}{_medians(study, workers, best.grain)}')


def _head(study):
    incomplete = "" if study.is_complete else ", <strong>not all of which were made</strong>"
    text = (f'<h1>How large should tasks be?</h1><code class="command">{escape(study.command)}</code><p>{escape(study.machine)}; '
            f"{count_of_runs(study.repetitions)} of each grain{incomplete}. Points are medians, whiskers go from the least to the "
            f"most. Execution time: {escape(study.time_from)}.</p>")
    noise = noise_as_words(study)
    text += f'<p class="soft">In time, {escape(noise)}.</p>' if noise else ""
    loss = loss_as_words(study)
    text += f'<p class="soft">{escape(loss[0].upper() + loss[1:])}.</p>' if loss else ""
    missing = ", ".join(f"<code>{escape(name)}</code>" for name in study.missing)
    return text + (f'<p class="soft">Without a value: {missing}.</p>' if missing else "")


def as_html(study):
    sections = "".join(_section(study, workers) for workers in reversed(study.workers))
    return document(f"quern grain: {study.command}",
                    f"{_head(study)}{_figure(overview(study))}{sections}<h2>How to read it</h2><p>{HOW_TO_READ}</p>")
