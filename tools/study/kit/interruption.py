# SPDX-License-Identifier: BSL-1.0
"""Ctrl-C and SIGTERM as an event that a wait can see, so that a run ends between two steps and never inside one: the processes
that it started are ended, and the measurements are kept.

    stop = Interruption()
    select.select([pipe, stop.fileno()], [], [], limit)   # returns at once when the user wants to stop
    stop.check()                                          # raises Stopped then
"""

import os
import signal


class Stopped(Exception):
    """The user interrupted the run; the text is the signal's name."""


class Interruption:
    """Takes over SIGINT, SIGTERM and SIGHUP, except those that the caller's parent ignores. Each signal calls `call`. `once`: a
    second signal of a kind ends this process. `with` restores the handlers."""

    def __init__(self, signals=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP), call=lambda: None, once=False):
        self.name = None
        self._call, self._once = call, once
        self._read, self._write = os.pipe()
        self._before = {}
        for one in signals:
            if signal.getsignal(one) is not signal.SIG_IGN:
                self._before[one] = signal.signal(one, self._note)

    def _note(self, number, _frame):
        if self._once:
            signal.signal(number, signal.SIG_DFL)
        if self.name is None:
            self.name = signal.Signals(number).name
            os.write(self._write, b"!")  # is never read: every later select sees it
        self._call()

    def fileno(self):
        """Readable once a signal has come."""
        return self._read

    def check(self):
        """Raises Stopped once a signal has come."""
        if self.name is not None:
            raise Stopped(self.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)
