# SPDX-License-Identifier: BSL-1.0
"""Charts as inline SVG, written here so that the page needs nothing from anywhere. Colours are classes of the page's style
sheet, which knows light and dark. Every mark has its figure as a title, and every chart stands beside a table that says the
same."""

import html
import math
import re

import wording

CHARACTER = 7.2  # width of one at the charts' font size, on the safe side


def text(x, y, words, css="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}">{html.escape(words)}</text>'


def line(x1, y1, x2, y2, css):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{css}"/>'


def svg(width, height, label, parts):
    return (f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
            f'aria-label="{html.escape(label)}">' + "".join(parts) + "</svg>")


class LogScale:
    """From values to places on a logarithmic axis that begins and ends at 1, 2 or 5 times a power of ten."""

    def __init__(self, values, left, right):
        known = [v for v in values if v is not None and v > 0] or [1.0]
        self.low, self.high = self._below(min(known)), self._above(max(known))
        if self.low == self.high:
            self.low, self.high = self._below(self.low * 0.999), self._above(self.high * 1.001)
        self.left, self.right = left, right

    @staticmethod
    def _steps(value):
        power = math.floor(math.log10(value))
        return [m * 10.0 ** p for p in (power - 1, power, power + 1) for m in (1, 2, 5)]

    @classmethod
    def _below(cls, value):
        return max(s for s in cls._steps(value) if s <= value * 1.0000001)

    @classmethod
    def _above(cls, value):
        return min(s for s in cls._steps(value) if s >= value * 0.9999999)

    def place(self, value):
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.left + share * (self.right - self.left)

    def ticks(self, room=60):
        """The values of the grid: as many as have `room` each; powers of ten alone where 1, 2, 5 do not."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for factors, step in (((1, 2, 5), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
            found = [m * 10.0 ** p for p in range(first, last + 1, step) for m in factors]
            found = [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]
            gaps = [self.place(b) - self.place(a) for a, b in zip(found, found[1:])]
            if not gaps or min(gaps) >= room:
                break
        return found


def _grid(scale, top, bottom, words, one=None):
    parts = []
    for value in scale.ticks():
        x = scale.place(value)
        parts.append(line(x, top, x, bottom, "one" if one and abs(value - one) < 1e-9 else "grid"))
        parts.append(text(x, bottom + 16, re.sub(r"\.0+(?=\D|$)", "", words(value)), "tick", "middle"))
    return parts


def _mark(index, x, y, title):
    """A shape and a colour for each number of workers."""
    shapes = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"', f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
              f'<path d="M{x:.1f} {y - 5:.1f}L{x + 5:.1f} {y + 4:.1f}H{x - 5:.1f}Z"',
              f'<path d="M{x:.1f} {y - 5:.1f}L{x + 5:.1f} {y:.1f}L{x:.1f} {y + 5:.1f}L{x - 5:.1f} {y:.1f}Z"')
    return f'{shapes[index % 4]} class="mark m{index % 4}"><title>{html.escape(title)}</title></{shapes[index % 4][1:].split()[0]}>'


def _words_beside(section, tag, workers):
    """Why there is no mark, for those numbers of workers that have none."""
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
    scale = LogScale(ratios, left, width - 40)
    lane = 9  # each number of workers has one, so that no mark hides another
    top, row = 56, max(26, lane * len(workers) + 7)
    bottom = top + row * len(sections)
    parts, x = [], left
    for index, w in enumerate(workers):
        parts += [_mark(index, x, 12, wording.workers(w)), text(x + 12, 16, wording.workers(w))]
        x += 110
    parts += [text(scale.place(1) - 10, 42, "← Quern is faster", "good", "end"), text(scale.place(1) + 10, 42, "Quern is slower →", "bad")]
    parts += [f'<rect x="0" y="{top + row * i}" width="{width}" height="{row}" class="band"/>' for i in range(1, len(sections), 2)]
    parts += _grid(scale, top, bottom, wording.ratio, one=1.0)
    for i, section in enumerate(sections):
        y = top + row * (i + 0.5)
        parts.append(f'<a href="#{section.anchor}">{text(left - 14, y + 4, section.title, "", "end")}</a>')
        for index, w in enumerate(workers):
            duel = section.duels.get((tag, w))
            if duel is not None and duel.ratio is not None:
                words = f"{section.title}, {wording.workers(w)}: {wording.ratio(duel.ratio)} ({duel.quern} to {duel.peer})"
                parts.append(_mark(index, scale.place(duel.ratio), y + lane * (index - (len(workers) - 1) / 2), words))
        words = _words_beside(section, tag, workers)
        if words:
            parts.append(text(width - 6, y + 4, words, "tick", "end"))
    return svg(width, bottom + 28, "Best Quern contender to best peer, for each problem and number of workers", parts)


def _bar(cell, scale, y, height, section, label, workers):
    s = cell.summary
    if s.median is None:
        words = s.failure or "not measured"
        room = int((scale.right - scale.left) / CHARACTER)
        return [f"<g><title>{html.escape(words)}</title>" + text(scale.left + 4, y + height - 4, words if len(words) <= room
                else words[:room - 1] + "…", "bad") + "</g>"]
    kind = label.split("/")[0] if label.split("/")[0] in ("serial", "quern") else "peer"
    low, mid, high = scale.place(s.least), scale.place(s.median), scale.place(s.most)
    middle = y + height / 2
    words = (f"{label}, {wording.workers(workers)}: median {wording.quantity(s.median, section.unit)}, from "
             f"{wording.quantity(s.least, section.unit)} to {wording.quantity(s.most, section.unit)}")
    return [f'<g><title>{html.escape(words)}</title><rect x="{scale.left:.1f}" y="{y:.1f}" width="{max(1.0, mid - scale.left):.1f}" '
            f'height="{height}" class="bar {kind}"/>' + line(low, middle, high, middle, "whisker")
            + line(low, middle - 4, low, middle + 4, "whisker") + line(high, middle - 4, high, middle + 4, "whisker") + "</g>"]


def bars(section, width=1080):
    """Medians with the smallest and the largest repetition, a panel for each number of workers, one scale for all."""
    left = 24 + CHARACTER * max(len(label) for label in section.labels)
    gap, columns = 28, len(section.workers)
    panel = min(420, (width - left - gap * columns) / columns)
    values = [v for c in section.cells.values() for v in (c.summary.least, c.summary.most) if v]
    row, height, top = 20, 14, 26
    bottom = top + row * len(section.labels)
    parts = [text(left - 10, top + row * i + height, label, "", "end") for i, label in enumerate(section.labels)]
    for column, workers in enumerate(section.workers):
        start = left + column * (panel + gap)
        scale = LogScale(values + ([min(values) * 0.7] if values else []), start, start + panel)
        parts.append(text(start, 14, wording.workers(workers), "strong"))
        parts += _grid(scale, top, bottom, lambda v: wording.quantity(v, section.unit))
        for i, label in enumerate(section.labels):
            cell = section.cells.get((label, workers))
            if cell is not None:
                parts += _bar(cell, scale, top + row * i + 2, height, section, label, workers)
    return svg(left + columns * (panel + gap), bottom + 28, f"{section.title}: medians of all contenders", parts)
