# SPDX-License-Identifier: BSL-1.0
"""The frame of a self-contained HTML page: no network, no script, no font; light or dark as the reader's system is. Its style,
page.css, is embedded in the page."""

import html
import os

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.css")


def escape(value):
    return html.escape(str(value))


def scroll(label, inner):
    """A scrollable box for content wider than the window; reachable by keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{inner}</div>'


def document(title, main, before="", more_style=""):
    """The whole page. `before` precedes the main part; `more_style` are rules for this kind of page."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read() + more_style
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
            f"<style>\n{style}</style></head><body>{before}<main>{main}</main></body></html>\n")
