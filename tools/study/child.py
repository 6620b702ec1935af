# SPDX-License-Identifier: BSL-1.0
"""Runs another program to its end and times it. Its output goes to an unnamed file rather than a pipe, so that no reader takes
processor time during the run. Ctrl-C ends the running program and is remembered."""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

from .kit.interruption import Interruption
from .kit.mistakes import Mistake

KEPT_OUTPUT = 64 * 1024  # bytes; more than a message can show


@dataclass(frozen=True)
class Outcome:
    """How a program has ended."""
    status: int    # exit status; minus the signal number if a signal ended it
    wall_s: float  # from before its start to its end
    cpu_s: float   # of all its threads, user and system
    output: str    # of stdout and stderr; only the end when it is long

    def how_it_ended(self):
        """ "exit status 3", "signal 11 (Segmentation fault)" """
        if self.status >= 0:
            return f"exit status {self.status}"
        return f"signal {-self.status} ({signal.strsignal(-self.status)})"


class Children:
    """Runs programs, one at a time. Inside `with`, SIGINT and SIGTERM do not end this process: they end the running program and
    are remembered. A second signal of a kind ends this process too. `command` begins the text of a Mistake."""

    def __init__(self, quern, command):
        self._quern, self._command = quern, command
        self._running = None  # the process id, while it cannot be reused
        self._stop = None

    def __enter__(self):
        self._stop = Interruption((signal.SIGINT, signal.SIGTERM), call=self._end_running, once=True)
        return self

    def __exit__(self, *_):
        self._stop.__exit__()

    @property
    def interrupted(self):
        """Whether the user has interrupted the study."""
        return self._stop.name is not None

    def run(self, words, changes):
        """The Outcome of a program; a name without '/' is searched in PATH. `changes` to the environment: the value None
        removes a variable. A program that cannot be started is a Mistake."""
        with tempfile.TemporaryFile() as output:
            begin = time.monotonic()
            process = self._start(words, changes, output)
            self._running = process.pid
            if self.interrupted:  # the signal came before the program existed
                self._end_running()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.monotonic() - begin
            self._running = None
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return Outcome(process.returncode, wall, usage.ru_utime + usage.ru_stime, _end_of(output))

    def _start(self, words, changes, output):
        environment = {name: value for name, value in _inherited().items() if name not in changes}
        environment |= {name: value for name, value in changes.items() if value is not None}
        try:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                                    close_fds=False)
        except OSError as error:
            raise Mistake(f"{self._command}: cannot run '{words[0]}': {error.strerror}"
                          f"{self._quern.hint_for(words[0])}") from error

    def _end_running(self):
        if self._running is not None:
            os.kill(self._running, signal.SIGTERM)


def _inherited():
    """The environment of this process as it was given: in the C locale Python adds LC_CTYPE, which programs must not inherit."""
    with open("/proc/self/environ", "rb") as file:
        entries = (os.fsdecode(entry).partition("=") for entry in file.read().split(b"\0"))
    return {name: value for name, equals, value in entries if equals}


def _end_of(output):
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - KEPT_OUTPUT))
    return output.read().decode(errors="surrogateescape")
