# SPDX-License-Identifier: BSL-1.0
"""Line charts over a logarithmic abscissa: a curve for each series with a mark at each point, whiskers, named regions in the
background, flags at chosen places."""

import html
import math
from dataclasses import dataclass, field

from . import svg
from .axis import Axis, linear_ticks, log_ticks, short_number

CHARACTER = 7  # pixels, the width of a character at the charts' font size
LINE = 16      # pixels between two lines of text
FLAG_LINE = 14
LEFT, RIGHT, BOTTOM = 62, 16, 44  # pixels around the plot


@dataclass(frozen=True)
class Point:
    x: float
    y: float     # NaN: left out
    low: float   # ends of the whisker; equal: none
    high: float
    title: str   # tooltip of a browser


@dataclass(frozen=True)
class Series:
    name: str
    points: list  # in order of x


@dataclass
class Region:
    """A named interval of the abscissa, shown in the background."""
    begin: float
    end: float
    name: str


@dataclass(frozen=True)
class Flag:
    """A vertical line with a name at its top."""
    x: float
    name: str


@dataclass
class Chart:
    title: str
    x_title: str = ""
    y_title: str = ""
    has_log_y: bool = False  # points that are not positive are then left out
    width: float = 620       # pixels
    height: float = 300
    series: list = field(default_factory=list)  # at most six are distinguishable
    regions: list = field(default_factory=list)
    flags: list = field(default_factory=list)


def as_svg(chart):
    """The chart with its legend; empty when it has no point."""
    drawing = _Drawing(chart)
    return drawing.draw() if drawing.points else ""


class _Drawing:
    def __init__(self, chart):
        self.chart, self.parts = chart, []
        self.points = [p for series in chart.series for p in series.points if self._is_drawn(p)]

    def draw(self):
        chart = self.chart
        self._lay_out()
        self._add_legend()
        self._add_regions()
        self._add_grid()
        self._add_flags()
        for index, series in enumerate(chart.series):
            self._add_series(series, index)
        return svg.document(chart.width, chart.height, chart.title, self.parts)

    def _is_drawn(self, p):
        return math.isfinite(p.y) and p.x > 0 and (not self.chart.has_log_y or p.y > 0)

    def _lay_out(self):
        chart = self.chart
        xs = [p.x for p in self.points]
        self.x = Axis(min(xs) / 1.15, max(xs) * 1.15, LEFT, chart.width - RIGHT)
        self.legend = self._place_legend()
        self.flags, flag_rows = self._place_flags()
        self.top = 8 + LINE * (1 + max((row for _, row in self.legend), default=0)) + FLAG_LINE * flag_rows + (
            18 if chart.regions else 4)
        ends = [end for p in self.points for end in (p.low, p.high)
                if math.isfinite(end) and (not chart.has_log_y or end > 0)]
        ys = [p.y for p in self.points] + ends
        if chart.has_log_y:
            low, high = min(ys) / 1.2, max(ys) * 1.2
        else:
            low = min(0.0, min(ys) * 1.05)
            high = max(max(ys) * 1.05, low + 1e-9)
        self.y = Axis(low, high, chart.height - BOTTOM, self.top, chart.has_log_y)

    def _place_legend(self):
        """[(x, row)] of the names in the legend."""
        places, x, row = [], LEFT, 0
        for series in self.chart.series:
            width = 36 + CHARACTER * len(series.name)
            if x > LEFT and x + width > self.chart.width:
                x, row = LEFT, row + 1
            places.append((x, row))
            x += width
        return places

    def _place_flags(self):
        """([(middle, row)] of the names of flags, in rows without overlap; how many rows)."""
        places, ends = [], []
        for flag in self.chart.flags:
            half = CHARACTER * len(flag.name) / 2
            middle = min(max(self.x.place(flag.x), LEFT + half), max(LEFT + half, self.chart.width - half))
            row = next((i for i, end in enumerate(ends) if end <= middle - half - 6), len(ends))
            ends[row:row + 1] = [middle + half]
            places.append((middle, row))
        return places, len(ends)

    def _add_legend(self):
        for index, (series, (x, row)) in enumerate(zip(self.chart.series, self.legend)):
            y = 16 + LINE * row
            self.parts += [svg.mark(index, x + 5, y - 4, ""), svg.text(x + 14, y, series.name)]

    def _add_regions(self):
        for index, region in enumerate(self.chart.regions):
            begin, end = self.x.place(region.begin), self.x.place(region.end)
            self.parts.append(f'<rect x="{begin:.1f}" y="{self.top - 16:.1f}" width="{max(0.0, end - begin):.1f}" '
                              f'height="{self.y.begin - self.top + 16:.1f}" class="region{index % 2}"/>')
            if CHARACTER * len(region.name) < end - begin:
                self.parts.append(svg.text((begin + end) / 2, self.top - 5, region.name, "tick", "middle"))

    def _add_grid(self):
        x, y, chart = self.x, self.y, self.chart
        for value in log_ticks(x, 60):
            place = x.place(value)
            self.parts += [svg.line(place, y.end, place, y.begin, "grid"),
                           svg.text(place, y.begin + 15, short_number(value), "tick", "middle")]
        for value in log_ticks(y, 30) if y.is_log else linear_ticks(y, 40):
            place = y.place(value)
            self.parts += [svg.line(x.begin, place, x.end, place, "zero" if value == 0 else "grid"),
                           svg.text(x.begin - 6, place + 4, short_number(value), "tick", "end")]
        self.parts += [svg.text((x.begin + x.end) / 2, chart.height - 8, chart.x_title, "tick", "middle"),
                       f'<text transform="translate(13 {(y.begin + y.end) / 2:.1f}) rotate(-90)" class="tick" '
                       f'text-anchor="middle">{html.escape(chart.y_title)}</text>']

    def _add_flags(self):
        above = self.top - (20 if self.chart.regions else 4)
        for flag, (middle, row) in zip(self.chart.flags, self.flags):
            x, y = self.x.place(flag.x), above - FLAG_LINE * row
            self.parts += [svg.line(x, y + 2, x, self.y.begin, "flag"), svg.text(middle, y, flag.name, "flag-name", "middle")]

    def _add_series(self, series, index):
        drawn = [p for p in series.points if self._is_drawn(p)]
        places = [f"{self.x.place(p.x):.1f} {self.y.place(p.y):.1f}" for p in drawn]
        path = "M" + "L".join(places) if places else ""
        self.parts.append(f'<path d="{path}" class="curve l{index % 6}"/>')
        for p in drawn:
            x = self.x.place(p.x)
            if p.low < p.high and (not self.y.is_log or p.low > 0):
                self.parts.append(svg.line(x, self.y.place(p.low), x, self.y.place(p.high), f"whisker l{index % 6}"))
            self.parts.append(svg.mark(index, x, self.y.place(p.y), p.title))
