# SPDX-License-Identifier: BSL-1.0
"""The files that a study writes: after each run, so that one that is killed leaves what it has measured."""

import os
import stat

from .mistakes import Mistake


class Exports:
    """`forms`: option without dashes -> a function that makes the text from the results. `paths`: option -> a path, or nothing.
    A path that cannot be written is a Mistake, at once; what is there stays until there are results. `command` begins the text
    of a Mistake."""

    def __init__(self, command, forms, paths):
        self._files = {}  # path -> form
        for option, form in forms.items():
            path = paths[option]
            if path:
                try:
                    open(path, "ab").close()
                except OSError as error:
                    raise Mistake(f"{command}: --{option} is '{path}', which cannot be written: {error.strerror}") from error
                self._files[path] = form

    def write(self, results, is_over):
        """Replaces files whole. Those that cannot be replaced (pipes, terminals) get their text at the end only."""
        for path, form in self._files.items():
            target = os.path.realpath(path)
            is_replaced = os.path.isfile(target) and os.access(os.path.dirname(target), os.W_OK)
            if is_over or is_replaced:
                try:
                    _write(target if is_replaced else path, form(results), is_replaced)
                except OSError as error:
                    raise RuntimeError(f"cannot write '{path}': {error.strerror}") from error


def _write(path, text, is_replaced):
    written = f"{path}.part" if is_replaced else path
    with open(written, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    if is_replaced:
        os.chmod(written, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(written, path)
