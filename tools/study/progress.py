# SPDX-License-Identifier: BSL-1.0
"""The progress of a study: one changing line on a terminal, otherwise a line per run. On stderr, because results go to stdout."""

import sys
import time


class Progress:
    """Counts to `total` runs. `with` clears the line at the end."""

    def __init__(self, total):
        self._total, self._done, self._shown = total, 0, 0
        self._begin = time.monotonic()
        self._on_terminal = sys.stderr.isatty()

    def begin(self, what):
        if self._on_terminal:
            text = f"[{self._done + 1}/{self._total}] {what}{self._remaining()}"
            print(f"\r{text:<{self._shown}}", end="", file=sys.stderr, flush=True)
            self._shown = len(text)

    def end(self, what, seconds):
        self._done += 1
        if not self._on_terminal:
            print(f"[{self._done}/{self._total}] {what}: {seconds:.3f} s", file=sys.stderr, flush=True)

    def _remaining(self):
        if self._done == 0:
            return ""
        spent = time.monotonic() - self._begin
        return f", about {spent / self._done * (self._total - self._done):.0f} s to go"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._shown:
            print(f"\r{'':{self._shown}}\r", end="", file=sys.stderr, flush=True)
