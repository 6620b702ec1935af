# SPDX-License-Identifier: BSL-1.0
"""Runs another program to its end and times it, by the command `quern`, which starts programs for all of its subcommands
(tools/quern/child). Ctrl-C ends the running program and is remembered."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass

from .kit.interruption import Interruption
from .kit.mistakes import Mistake

RUN = "run-of-a-study"  # tools/quern/child/run_of_a_study.hpp
NO_LIMIT = 0


@dataclass(frozen=True)
class Outcome:
    """How a program has ended."""
    failure: str      # "exit status 3", "signal 11 (Segmentation fault)"; empty: it worked, or it was stopped
    is_stopped: bool  # by the limit or by the user
    wall_s: float     # from its start to its end
    cpu_s: float      # of all its threads, user and system
    output: str       # of stdout and stderr; only the end when it is long


class Children:
    """Runs programs, one at a time. Inside `with`, SIGINT and SIGTERM do not end this process: they end the running program and
    are remembered. A second signal of a kind ends this process too, and the program with it. `command` begins the text of a
    Mistake."""

    def __init__(self, quern, command):
        self._quern, self._command = quern, command
        self._running = None
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

    def run(self, words, changes, limit_s=NO_LIMIT):
        """The Outcome of a program; a name without '/' is searched in PATH. `changes` to the environment: the value None
        removes a variable. A program that cannot be started is a Mistake."""
        environment = {name: value for name, value in _inherited().items() if name not in changes}
        environment |= {name: value for name, value in changes.items() if value is not None}
        with subprocess.Popen([self._quern.path, RUN, str(limit_s), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              env=environment, close_fds=False) as process:
            self._running = process
            if self.interrupted:  # the signal came before the process existed
                self._end_running()
            told, _, output = process.stdout.read().partition(b"\n")
        self._running = None
        if not told and self.interrupted:  # the signal came before `quern` was ready for it
            return Outcome("", True, 0.0, 0.0, "")
        if process.returncode != 0 or not told:
            raise RuntimeError(f"'{words[0]}' could not be run: '{self._quern.path}' ended with status {process.returncode}")
        how = json.loads(told)
        if how["error"]:
            raise Mistake(f"{self._command}: cannot run '{words[0]}': {how['error']}{self._quern.hint_for(words[0])}")
        return Outcome(how["failure"], how["is_stopped"], how["seconds"], how["processor_s"],
                       output.decode(errors="surrogateescape"))

    def _end_running(self):
        if self._running is not None:
            self._running.terminate()


def _inherited():
    """The environment of this process as it was given: in the C locale Python adds LC_CTYPE, which programs must not inherit."""
    with open("/proc/self/environ", "rb") as file:
        entries = (os.fsdecode(entry).partition("=") for entry in file.read().split(b"\0"))
    return {name: value for name, equals, value in entries if equals}
