# SPDX-License-Identifier: BSL-1.0
"""Parts of charts as inline SVG, for self-contained pages. Colours are classes of page.css, which has a light and a dark
scheme."""

import html

SHAPES = ("M{x:.1f} {y:.1f}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M{x:.1f} {y:.1f}m-4 -4h8v8h-8z",
          "M{x:.1f} {y:.1f}m0 -5l5 9h-10z", "M{x:.1f} {y:.1f}m0 -5l5 5l-5 5l-5 -5z",
          "M{x:.1f} {y:.1f}m0 5l5 -9h-10z", "M{x:.1f} {y:.1f}m-5 -2h10v4h-10z")


def text(x, y, words, css="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}">{html.escape(words)}</text>'


def line(x1, y1, x2, y2, css):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{css}"/>'


def mark(index, x, y, title):
    """A shape and a colour for each of up to six series; the title shows the values as a tooltip."""
    index %= len(SHAPES)
    return f'<path d="{SHAPES[index].format(x=x, y=y)}" class="mark c{index}"><title>{html.escape(title)}</title></path>'


def document(width, height, label, parts):
    """The whole chart. `label` is its text for screen readers."""
    return (f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
            f'aria-label="{html.escape(label)}">' + "".join(parts) + "</svg>")
