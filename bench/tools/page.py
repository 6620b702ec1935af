# SPDX-License-Identifier: BSL-1.0
"""The report as one self-contained HTML page: no network, no script, no font; light or dark as the reader's system is. Tables
have all numbers; a chart is an overview of the table beside it."""

import os

import charts
import figures
import markdown
import targets
import wording
from kit import markup

escape, scroll = markup.escape, markup.scroll
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "style.css")
COLUMNS = ("median", "best", "spread", "to serial", "to peer", "MiB")
STATES = {targets.REACHED: ("reached", "✓"), targets.MISSED: ("missed", "✗"), targets.UNKNOWN: ("unknown", "?")}


def _head(runs):
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in wording.head(runs))
    return f'<table class="head"><tbody>{rows}</tbody></table>'


def _targets(rows, runs):
    if not rows:
        return "<p>No targets.</p>"
    parts = [f"<p>{escape('; '.join(targets.tally(rows, i) + of_run(run, runs) for i, run in enumerate(runs)))}.</p>"]
    header = '<th scope="col" class="words">target</th>' + "".join(
        f'<th scope="col" class="words">{escape(wording.policy(run) if len(runs) > 1 else "result")}</th>' for run in runs)
    lines = []
    for row in rows:
        cells = ""
        for outcome in row.outcomes:
            css, sign = STATES[outcome.state]
            cells += f'<td class="words {css}">{sign} {outcome.state} <span class="soft">({escape(outcome.figure)})</span></td>'
        lines.append(f'<tr><th scope="row">{escape(row.text)}</th>{cells}</tr>')
    body = f'<table><thead><tr>{header}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return parts[0] + scroll("Targets", body)


def of_run(run, runs):
    return f" by {wording.policy(run)}" if len(runs) > 1 else ""


def _duels(sections, run):
    """The overview as a table."""
    workers = sorted({w for s in sections for t, w in s.duels if t == run.tag})
    header = "".join(f'<th scope="col">{escape(wording.workers(w))}</th><th scope="col" class="words">of</th>' for w in workers)
    lines = []
    for section in sections:
        cells = ""
        for w in workers:
            duel = section.duels.get((run.tag, w), figures.Duel(word=wording.NONE))
            css = "" if duel.ratio is None else "good" if duel.ratio <= 1 else "bad"
            who = f"{duel.quern} : {duel.peer}" if duel.ratio is not None else duel.word
            cells += f'<td class="first {css}">{wording.ratio(duel.ratio)}</td><td class="words soft">{escape(who)}</td>'
        lines.append(f'<tr><th scope="row"><a href="#{section.anchor}">{escape(section.title)}</a></th>{cells}</tr>')
    body = f'<table><thead><tr><th scope="col" class="words">problem</th>{header}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return f"<details><summary>The same as a table</summary>{scroll('Best Quern contender to best peer', body)}</details>"


def _overviews(sections, runs):
    parts = []
    for index, run in enumerate(runs):
        there = [s for s in sections if any(t == run.tag for t, _ in s.duels)]
        chart = scroll("Chart: best Quern contender to best peer", charts.overview(there, run.tag)) + _duels(there, run)
        if len(runs) > 1:
            opened = " open" if index == 0 else ""
            chart = f"<details{opened}><summary>{escape(wording.policy(run))}</summary>{chart}</details>"
        parts.append(chart)
    return "".join(parts)


def _cells(cell, section, best):
    """The columns of one contender and number of workers."""
    if cell is None:
        return f'<td class="first soft" colspan="{len(COLUMNS)}">{wording.NONE}</td>'
    s = cell.summary
    if s.median is None:
        return f'<td class="first failure" colspan="{len(COLUMNS)}">{escape(s.failure or "not measured")}</td>'
    return (f'<td class="first{" best" if s.median == best else ""}">{wording.quantity(s.median, section.unit)}</td>'
            f"<td>{wording.quantity(s.best, section.unit)}</td><td>{wording.percent(s.spread)}</td>"
            f"<td>{wording.ratio(cell.to_serial)}</td><td>{wording.ratio(cell.to_peer)}</td><td>{wording.mib(s.growth_mib)}</td>")


def _table(section):
    best = {}
    for w in section.workers:
        known = [c.summary.median for (label, v), c in section.cells.items()
                 if v == w and c.summary.median is not None and figures.runtime_of(label) != "serial"]
        best[w] = (max(known) if section.higher_is_better else min(known)) if known else None
    groups = "".join(f'<th scope="colgroup" class="first" colspan="{len(COLUMNS)}">{escape(wording.workers(w))}</th>'
                     for w in section.workers)
    names = "".join(f'<th scope="col"{" class=first" if i == 0 else ""}>{name}</th>' for _ in section.workers
                    for i, name in enumerate(COLUMNS))
    lines = []
    for label in section.labels:
        cells = "".join(_cells(section.cells.get((label, w)), section, best[w]) for w in section.workers)
        lines.append(f'<tr class="{escape(figures.runtime_of(label))}"><th scope="row">{escape(label)}</th>{cells}</tr>')
    body = (f'<table><thead><tr><th rowspan="2" class="words" scope="col">contender</th>{groups}</tr><tr>{names}</tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table>')
    return scroll(f"Table of {section.title}", body)


def _further(section):
    rows = markdown.further(section)
    if not rows:
        return ""
    header = "".join(f'<th scope="col">{escape(wording.workers(w))}</th>' for w in section.workers)
    lines = "".join(f'<tr><th scope="row">{escape(label)}</th><td class="words">{escape(name)}</td>'
                    + "".join(f"<td>{escape(v)}</td>" for v in values) + "</tr>" for label, name, *values in rows)
    body = (f'<table><thead><tr><th scope="col" class="words">contender</th><th scope="col" class="words">figure</th>{header}'
            f"</tr></thead><tbody>{lines}</tbody></table>")
    return f"<details><summary>Further figures (medians)</summary>{scroll(f'Further figures of {section.title}', body)}</details>"


def _conditions(section):
    """Load and stolen time of each group: the first check of a doubtful figure."""
    notes = [f"{tag + ', ' if tag else ''}{wording.workers(w)}: {wording.number(steal)} % stolen, load {wording.number(load)}"
             for tag, w, steal, load in section.notes]
    return f'<p class="soft">{escape("; ".join(notes))}.</p>'


def _section(section):
    better = ", more is better" if section.higher_is_better else ""
    return (f'<section id="{section.anchor}"><h3>{escape(section.title)}</h3>'
            f"<p>{escape(section.about)}. Unit: {escape(section.unit)}{better}.</p>"
            + scroll(f"Chart of {section.title}", charts.bars(section)) + _table(section) + _further(section)
            + _conditions(section) + "</section>")


def report(sections, rows, runs):
    """The whole page as text."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    links = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in sections)
    body = (f"<h1>Quern benchmarks</h1>{_head(runs)}"
            f'<h2 id="targets">Targets</h2>{_targets(rows, runs)}'
            '<h2 id="overview">Best Quern contender to best peer</h2><p>How many times worse the best Quern contender is than '
            "the best peer with as many workers, on a logarithmic scale: left of 1× Quern is better.</p>"
            f'{_overviews(sections, runs)}<h2 id="problems">Problems</h2><nav aria-label="Problems"><ul>{links}</ul></nav>'
            f"<p>{escape(HOW_TO_READ)}</p>" + "".join(map(_section, sections)))
    return markup.document("Quern benchmarks", body, '<a class="skip" href="#problems">To the problems</a>', style)


HOW_TO_READ = (
    "Bars are medians and whiskers go from the smallest to the largest repetition, on a logarithmic scale that does not begin at "
    "0: compare ends of bars, not lengths. Spread is the interquartile range / median. To serial, to peer: how many times worse "
    "than the serial program, and than the best peer with as many workers; below 1× is better. MiB: by how much the peak memory "
    "of a repetition was above what the process held before it, the most of all repetitions, the first included.")
