# SPDX-License-Identifier: BSL-1.0
"""The charts of the report. Every mark has its value as a title, and every chart has a table with the same numbers."""

import html
import re

import wording
from kit import axis, svg

CHARACTER = 7.2  # width of a character at the charts' font size, rounded up
ROOM = 50  # pixels for each number of an axis


def _grid(scale, top, bottom, words, one=None):
    parts = []
    for value in axis.log_ticks(scale, ROOM, ((1, 2, 5), (1,))):
        x = scale.place(value)
        parts.append(svg.line(x, top, x, bottom, "one" if one and abs(value - one) < 1e-9 else "grid"))
        parts.append(svg.text(x, bottom + 16, re.sub(r"\.0+(?=\D|$)", "", words(value)), "tick", "middle"))
    return parts


def _words_beside(section, tag, workers):
    """The reasons for missing marks, by number of workers."""
    found = {}
    for w in workers:
        duel = section.duels.get((tag, w))
        if duel is not None and duel.ratio is None:
            found.setdefault(duel.word, []).append(str(w))
    return "; ".join(f"{'/'.join(w)}: {word}" for word, w in found.items())


def overview(sections, tag, width=1080):
    """A row for each problem, a mark for each number of workers: best Quern contender to best peer."""
    sections = [s for s in sections if any(t == tag for t, _ in s.duels)]
    workers = sorted({w for s in sections for t, w in s.duels if t == tag})
    left = 24 + CHARACTER * max((len(s.title) for s in sections), default=10)
    ratios = [d.ratio for s in sections for (t, _), d in s.duels.items() if t == tag] + [0.5, 2.0]
    scale = axis.around(ratios, left, width - 40)
    lane = 9  # one lane for each number of workers, so that marks do not hide each other
    top, row = 56, max(26, lane * len(workers) + 7)
    bottom = top + row * len(sections)
    parts, x = [], left
    for index, w in enumerate(workers):
        parts += [svg.mark(index, x, 12, wording.workers(w)), svg.text(x + 12, 16, wording.workers(w))]
        x += 110
    parts += [svg.text(scale.place(1) - 10, 42, "← Quern is faster", "good", "end"),
              svg.text(scale.place(1) + 10, 42, "Quern is slower →", "bad")]
    parts += [f'<rect x="0" y="{top + row * i}" width="{width}" height="{row}" class="band"/>' for i in range(1, len(sections), 2)]
    parts += _grid(scale, top, bottom, wording.ratio, one=1.0)
    for i, section in enumerate(sections):
        y = top + row * (i + 0.5)
        parts.append(f'<a href="#{section.anchor}">{svg.text(left - 14, y + 4, section.title, "", "end")}</a>')
        for index, w in enumerate(workers):
            duel = section.duels.get((tag, w))
            if duel is not None and duel.ratio is not None:
                words = f"{section.title}, {wording.workers(w)}: {wording.ratio(duel.ratio)} ({duel.quern} to {duel.peer})"
                parts.append(svg.mark(index, scale.place(duel.ratio), y + lane * (index - (len(workers) - 1) / 2), words))
        words = _words_beside(section, tag, workers)
        if words:
            parts.append(svg.text(width - 6, y + 4, words, "tick", "end"))
    return svg.document(width, bottom + 28, "Best Quern contender to best peer, for each problem and number of workers", parts)


def _bar(cell, scale, y, height, section, label, workers):
    s = cell.summary
    if s.median is None:
        words = s.failure or "not measured"
        room = int((scale.end - scale.begin) / CHARACTER)
        shown = words if len(words) <= room else words[:room - 1] + "…"
        return [f"<g><title>{html.escape(words)}</title>{svg.text(scale.begin + 4, y + height - 4, shown, 'bad')}</g>"]
    kind = label.split("/")[0] if label.split("/")[0] in ("serial", "quern") else "peer"
    low, mid, high = scale.place(s.least), scale.place(s.median), scale.place(s.most)
    middle = y + height / 2
    words = (f"{label}, {wording.workers(workers)}: median {wording.quantity(s.median, section.unit)}, from "
             f"{wording.quantity(s.least, section.unit)} to {wording.quantity(s.most, section.unit)}")
    bar = (f'<rect x="{scale.begin:.1f}" y="{y:.1f}" width="{max(1.0, mid - scale.begin):.1f}" height="{height}" '
           f'class="bar {kind}"/>')
    return [f"<g><title>{html.escape(words)}</title>{bar}" + svg.line(low, middle, high, middle, "whisker")
            + svg.line(low, middle - 4, low, middle + 4, "whisker") + svg.line(high, middle - 4, high, middle + 4, "whisker")
            + "</g>"]


def bars(section, width=1080):
    """Medians with the smallest and the largest repetition, a panel for each number of workers, one common scale."""
    left = 24 + CHARACTER * max(len(label) for label in section.labels)
    gap, columns = 28, len(section.workers)
    panel = min(420, (width - left - gap * columns) / columns)
    values = [v for c in section.cells.values() for v in (c.summary.least, c.summary.most) if v]
    row, height, top = 20, 14, 26
    bottom = top + row * len(section.labels)
    parts = [svg.text(left - 10, top + row * i + height, label, "", "end") for i, label in enumerate(section.labels)]
    for column, workers in enumerate(section.workers):
        start = left + column * (panel + gap)
        scale = axis.around(values + ([min(values) * 0.7] if values else []), start, start + panel)
        parts.append(svg.text(start, 14, wording.workers(workers), "strong"))
        parts += _grid(scale, top, bottom, lambda v: wording.quantity(v, section.unit))
        for i, label in enumerate(section.labels):
            cell = section.cells.get((label, workers))
            if cell is not None:
                parts += _bar(cell, scale, top + row * i + 2, height, section, label, workers)
    return svg.document(left + columns * (panel + gap), bottom + 28, f"{section.title}: medians of all contenders", parts)
