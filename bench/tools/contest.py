# SPDX-License-Identifier: BSL-1.0
"""Lets contenders work in turns. A contender is a process that solves one problem on one runtime with one number of workers; it
makes one repetition for each line that it receives. Between its turns it is stopped, so that spinning threads take no time from
the others.

    contenders = [Contender(...), ...]; play(contenders, repetitions=7)
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

LONGEST_WORD = 160  # characters of a failure that fit into a table
OWN_GROUP = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}  # of Popen


class Contender:
    """One process. `failure` says in a few words why it is out, if it is. `stop` (an Interruption) ends a wait early."""

    def __init__(self, program, problem, variant, workers, size, label, limit=60.0, environment=None, stop=None):
        self.label, self.workers, self.size, self.limit = label, workers, size, limit
        self.command = [program, problem, variant, "--workers", str(workers), "--size", str(size), "--serve"]
        self.environment = {**os.environ, **(environment or {})}
        self.repetitions = []
        self.warm_up = None  # the very first repetition
        self.failure = None
        self._stop = stop
        self._process = None
        self._said = None  # its stderr: a file, because an unread pipe would fill
        self._waits = False  # stopped between two turns

    def turn(self, counts=True):
        """One repetition; the first one starts the process. No effect after a failure."""
        if self._stop:
            self._stop.check()
        if self.failure:
            return
        if self._process is None and not self._start():
            return
        if self._waits:
            self._signal(signal.SIGCONT)
        line = self._ask()
        if line is None:
            return
        self._signal(signal.SIGSTOP)
        self._waits = True
        self._keep(line, counts)

    def _start(self):
        self._said = tempfile.TemporaryFile()
        try:
            # A process group of its own: Ctrl-C in a terminal reaches only the driver; the children stop and end with it, and
            # the kernel wakes and ends them if the driver is killed.
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._said, env=self.environment, **OWN_GROUP)
        except OSError as error:
            self.failure = f"did not start: {error.strerror}"
            self._said.close()
            return False
        return True

    def _signal(self, number):
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass  # it has ended: the end of its output reports that

    def _keep(self, line, counts):
        try:
            repetition = json.loads(line)
            float(repetition["value"])
        except (ValueError, KeyError, TypeError):
            self.failure = f"printed no figures: {line.decode(errors='replace').strip()}"[:LONGEST_WORD]
            self.end()
            return
        if counts:
            self.repetitions.append(repetition)
        elif self.warm_up is None:
            self.warm_up = repetition

    def _ask(self):
        """The line of one repetition, or None when there is none; then `failure` is set."""
        try:
            self._process.stdin.write(b"go\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: the end of its output reports that below
        text, end = b"", time.monotonic() + self.limit
        waited_for = [self._process.stdout] + ([self._stop] if self._stop else [])
        while not text.endswith(b"\n"):
            ready, _, _ = select.select(waited_for, [], [], max(0.0, end - time.monotonic()))
            if self._stop:
                self._stop.check()
            if not ready:
                self.failure = f"timed out ({self.limit:g} s)"
                self.end()
                return None
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                self._explain_death(max(1.0, end - time.monotonic()))
                return None
            text += piece
        return text

    def _explain_death(self, patience):
        try:
            status = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.failure = f"closed its output and did not end ({self.limit:g} s)"
            self.end()
            return
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        if status < 0:
            self.failure = f"killed by signal {-status}"
        else:
            self.failure = _reason(said, status)[:LONGEST_WORD]
        self.end()

    def end(self):
        """Ends the process and its children; it may be stopped or dead."""
        if self._process is None:
            return
        self._signal(signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        self._process = None
        self._waits = False

    def result(self):
        """The part that the JSON keeps."""
        return {"contender": self.label, "workers": self.workers, "size": self.size, "failure": self.failure,
                "warm_up": self.warm_up, "repetitions": self.repetitions}


def _reason(said, status):
    """In a few words, from its stderr."""
    refused = [line for line in said if line.startswith("quern: --net ") or line.startswith("quern run: --net ")]
    if refused:  # quern run makes no network here
        return f"unavailable ({refused[-1].split(': ', 1)[1]})"
    return said[-1] if said else f"ended with status {status}"


def play(contenders, repetitions, fresh=False, on_turn=lambda: None, alternate=False):
    """All contenders in turns, `repetitions` rounds after an uncounted one. `fresh`: a new process for each turn, for problems
    that fill the memory. `alternate`: every other round in reverse order, so that no contender always follows the same other
    one. Always ends the processes."""
    try:
        for turn in range(repetitions + 1):
            for contender in reversed(contenders) if alternate and turn % 2 else contenders:
                contender.turn(counts=turn > 0)
                on_turn()
                if fresh:
                    contender.end()
    finally:
        for contender in contenders:
            contender.end()
