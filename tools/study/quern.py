# SPDX-License-Identifier: BSL-1.0
"""The command `quern` as the studies use it: its path, and what it reports about this machine."""

import json
import os
import subprocess

from .kit.mistakes import Mistake


class Quern:
    """`settings` are the options of the runtime on the command line."""

    def __init__(self, path, settings=()):
        self.path, self._settings = path, list(settings)

    def workers(self):
        """The number of workers that Quern would start here. A bad setting is a Mistake."""
        asked = subprocess.run([self.path, "info", "--json", *self._settings], capture_output=True, check=False)
        if asked.returncode != 0:
            reason = asked.stderr.decode(errors="surrogateescape").removesuffix("Try 'quern --help'.\n").strip()
            raise Mistake(reason) if asked.returncode == 2 else RuntimeError(reason.removeprefix("quern: "))
        return json.loads(asked.stdout)["workers"]["count"]

    def hint_for(self, program):
        """Prefers a program of that name beside `quern`, as users of an uninstalled build expect."""
        beside = os.path.join(os.path.dirname(self.path), program)
        return f"; did you mean '{beside}'?" if "/" not in program and os.access(beside, os.X_OK) else ""
