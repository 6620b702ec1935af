# SPDX-License-Identifier: BSL-1.0
"""The frame of a self-contained HTML page: no network, no script, no font; light or dark as the reader's system is. Its style,
the base sheet of all pages of Quern and page.css, is embedded in the page."""

import html
import os

FOLDER = os.path.dirname(os.path.realpath(__file__))
STYLE = os.path.join(FOLDER, "page.css")


def base_sheet():
    """The path of the base sheet: beside this file where Quern is installed, else in the sources."""
    beside = os.path.join(FOLDER, "base.css")
    return beside if os.path.exists(beside) else os.path.normpath(os.path.join(FOLDER, "../../../share/page/base.css"))


def escape(value):
    return html.escape(str(value))


def scroll(label, inner):
    """A scrollable box for content wider than the window; reachable by keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{inner}</div>'


def document(title, main, before="", more_style=""):
    """The whole page. `before` precedes the main part; `more_style` are rules for this kind of page."""
    with open(base_sheet(), encoding="utf-8") as base, open(STYLE, encoding="utf-8") as own:
        style = base.read() + own.read() + more_style
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
            f"<style>\n{style}</style></head><body>{before}<main>{main}</main></body></html>\n")
