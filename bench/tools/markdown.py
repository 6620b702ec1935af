# SPDX-License-Identifier: BSL-1.0
"""The report as Markdown: the content of the HTML page, without charts."""

import wording


def table(header, rows):
    """A table as lines. Escapes what would break a cell."""
    def line(cells):
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"
    return [line(header), "|" + "---|" * len(header), *map(line, rows)]


def targets_table(rows, runs):
    """The targets as lines, a column for each run."""
    if not rows:
        return ["No targets."]
    header = ["target"] + ([wording.policy(run) for run in runs] if len(runs) > 1 else ["result"])
    return table(header, [[row.text, *(f"{o.state} ({o.figure})" for o in row.outcomes)] for row in rows])


def _duels(sections, runs):
    """The best Quern contender against the best peer, for each run and number of workers."""
    workers = sorted({w for s in sections for w in s.workers})
    lines = []
    for run in runs:
        if len(runs) > 1:
            lines += [f"### {wording.policy(run)}", ""]
        rows = []
        for section in sections:
            duels = [section.duels.get((run.tag, w)) for w in workers]
            if any(duels):
                rows.append([section.title, *(_duel(d) for d in duels)])
        lines += table(["problem", *map(wording.workers, workers)], rows) + [""]
    return lines


def _duel(duel):
    if duel is None:
        return wording.NONE
    if duel.ratio is None:
        return duel.word
    return f"{wording.ratio(duel.ratio)} ({duel.quern} : {duel.peer})"


def _cell(cell, unit):
    """All figures of one contender with one number of workers."""
    if cell is None:
        return wording.NONE
    s = cell.summary
    if s.median is None:
        return s.failure or "not measured"
    text = f"{wording.quantity(s.median, unit)} ({wording.quantity(s.best, unit)})"
    if s.spread is not None:
        text += f" ± {wording.percent(s.spread)}"
    text += f"; {wording.ratio(cell.to_serial)} / {wording.ratio(cell.to_peer)}"
    return text if s.growth_mib is None else f"{text}; {wording.mib(s.growth_mib)} MiB"


def _section(section):
    better = " (more is better)" if section.higher_is_better else ""
    lines = [f"### {section.title}", "", f"{section.about}. Unit: {section.unit}{better}.", ""]
    rows = [[label, *(_cell(section.cells.get((label, w)), section.unit) for w in section.workers)]
            for label in section.labels]
    lines += table(["contender", *map(wording.workers, section.workers)], rows) + [""]
    more = further(section)
    if more:
        lines += ["Further figures (medians):", "",
                  *table(["contender", "figure", *map(wording.workers, section.workers)], more), ""]
    return lines


def further(section):
    """Rows of all other measurements of the contenders: label, name, a value for each number of workers."""
    rows = []
    for label in section.labels:
        found = {w: section.cells[label, w].summary.figures for w in section.workers if (label, w) in section.cells}
        for name in dict.fromkeys(n for figures in found.values() for n in figures if n not in ("cpu", "wall")):
            rows.append([label, name, *(wording.number(found.get(w, {}).get(name)) for w in section.workers)])
    return rows


HOW_TO_READ = (
    "A cell is: median (best) ± spread; to serial / to peer; memory. Spread is the interquartile range / median. To serial, to "
    "peer: how many times worse than the serial program, and than the best peer with as many workers; below 1× is better. "
    "Memory: by how much the peak of a repetition was above what the process held before it; the most of all repetitions, the "
    "first included.")


def report(sections, rows, runs):
    """The whole report as text."""
    lines = ["# Quern benchmarks", "", *table(["", ""], wording.head(runs)), "", "## Targets", "",
             *targets_table(rows, runs), "", "## Best Quern contender to best peer", "",
             "How many times worse Quern is: below 1× it is better.", "", *_duels(sections, runs),
             "## Problems", "", HOW_TO_READ, ""]
    for section in sections:
        lines += _section(section)
    return "\n".join(lines).rstrip() + "\n"
