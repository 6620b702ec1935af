# SPDX-License-Identifier: BSL-1.0
"""Lets contenders work in turns. A contender is a process that solves one problem on one runtime with one number of
workers; it makes one repetition for each line it is sent. Between its turns it is stopped, so that threads that spin while
they wait take nothing from the others.

    contest = Contest([Contender(...), ...]); contest.play(repetitions=7)
"""

import json
import os
import select
import signal
import subprocess
import time


class Contender:
    """One process. `failure` says in a few words why it is out, if it is."""

    def __init__(self, program, problem, variant, workers, size, label, limit=60.0, environment=None):
        self.label, self.workers, self.size, self.limit = label, workers, size, limit
        self.command = [program, problem, variant, "--workers", str(workers), "--size", str(size), "--serve"]
        self.environment = {**os.environ, **(environment or {})}
        self.repetitions = []
        self.failure = None
        self._process = None
        self._waits = False  # stopped between two turns

    def turn(self, counts=True):
        """One repetition; a first one starts the process. Does nothing for one that is out."""
        if self.failure:
            return
        if self._process is None:
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, env=self.environment)
        if self._waits:
            self._process.send_signal(signal.SIGCONT)
        line = self._ask()
        if line is None:
            return
        self._process.send_signal(signal.SIGSTOP)
        self._waits = True
        if counts:
            self.repetitions.append(json.loads(line))

    def _ask(self):
        """The line of one repetition, or None when there is none; then `failure` is set."""
        try:
            self._process.stdin.write(b"go\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: the end of its output says so below
        text, end = b"", time.monotonic() + self.limit
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.failure = f"timed out ({self.limit:g} s)"
                self.end()
                return None
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                self._explain_death()
                return None
            text += piece
        return text

    def _explain_death(self):
        said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        status = self._process.wait()
        last = said[-1] if said else f"ended with status {status}" if status >= 0 else f"killed by signal {-status}"
        self.failure = last if status >= 0 else f"killed by signal {-status}"
        self.end()

    def end(self):
        """Ends the process; it may be stopped or dead."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        self._process = None
        self._waits = False

    def result(self):
        """What the JSON keeps of it."""
        return {"contender": self.label, "workers": self.workers, "size": self.size, "failure": self.failure,
                "repetitions": self.repetitions}


def play(contenders, repetitions, fresh=False, on_turn=lambda: None):
    """All contenders in turns, `repetitions` rounds after one that does not count. `fresh`: a new process for each turn,
    for problems that fill the memory. The processes are ended whatever happens."""
    try:
        for turn in range(repetitions + 1):
            for contender in contenders:
                contender.turn(counts=turn > 0)
                on_turn()
                if fresh:
                    contender.end()
    finally:
        for contender in contenders:
            contender.end()
