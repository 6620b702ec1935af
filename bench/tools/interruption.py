# SPDX-License-Identifier: BSL-1.0
"""Ctrl-C and SIGTERM as something that a wait can see, so that a run ends between two steps and never inside one: the
processes that it started are ended and what was measured is kept.

    stop = Interruption()
    select.select([pipe, stop.fileno()], [], [], limit)   # returns at once when the user wants to stop
    stop.check()                                          # raises Stopped then
"""

import os
import signal


class Stopped(Exception):
    """The user wants the run to end; the text is the signal's name."""


class Interruption:
    """Takes over SIGINT, SIGTERM and SIGHUP from here on, except those that the caller's parent has chosen to ignore."""

    def __init__(self, signals=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        self.name = None
        self._read, self._write = os.pipe()
        for one in signals:
            if signal.getsignal(one) is not signal.SIG_IGN:
                signal.signal(one, self._note)

    def _note(self, number, _frame):
        if self.name is None:
            self.name = signal.Signals(number).name
            os.write(self._write, b"!")  # stays there: every later select sees it

    def fileno(self):
        """Readable once a signal has come."""
        return self._read

    def check(self):
        """Raises Stopped once a signal has come."""
        if self.name is not None:
            raise Stopped(self.name)
