# SPDX-License-Identifier: BSL-1.0
"""Contenders that are no program of bench/harness: applications, and programs of runtimes that no package has, in a folder of
the user. A folder of peers holds programs bench-<runtime> that speak like those of bench/harness, or peers.json:

    {"lace": {"fib": {"command": "./fib -w {workers} {size}", "value": "Time: ([0-9.]+)", "unit": "s", "check": "9227465"}}}

The keys are a runtime and a row; `command` starts in the folder, `value` is a regular expression with one group, `check` one
that the output has if the answer is right. `unit` is one of time, "s" unless it is said. `variant` names the contender.
"""

import json
import os
import re
import select
import shlex
import subprocess
import time

import choosing
import contest
import wording
from kit import mistakes
from many import rows

FILE = "peers.json"
NEEDED = ("command", "value")
ACCEPTED = (*NEEDED, "check", "unit", "variant", "about")


class Command(contest.Contender):
    """A contender that runs its program anew in each turn and reads the figure from what it prints."""

    def __init__(self, folder, entry, workers, size, label, unit, limit, environment, stop):
        super().__init__("", "", "", workers, size, label, limit=limit, environment=environment, stop=stop)
        self.command = shlex.split(entry["command"].format(workers=workers, size=size))
        program = os.path.join(folder, self.command[0])
        self.command[0] = os.path.abspath(program) if os.path.exists(program) else self.command[0]
        self._entry, self._folder = entry, folder
        self._factor = wording.SECONDS[entry.get("unit", "s")] / wording.SECONDS[unit]

    def turn(self, counts=True):
        if self._stop:
            self._stop.check()
        if self.failure:
            return
        start = time.monotonic()
        said = self._output()
        if said is None:
            return
        found = re.search(self._entry["value"], said, re.MULTILINE)
        if not re.search(self._entry.get("check", ""), said):
            self.failure = f"wrong answer: '{self._entry['check']}' is not in the output"
        elif not found:
            self.failure = f"printed no figures: {said.strip().splitlines()[-1] if said.strip() else ''}"[:contest.LONGEST_WORD]
        else:
            self._take(found.group(1), time.monotonic() - start, counts)

    def _take(self, figure, wall, counts):
        try:
            value = float(figure) * self._factor
        except (TypeError, ValueError):
            self.failure = f"printed no number: {figure}"[:contest.LONGEST_WORD]
        else:
            self._keep(json.dumps({"value": value, "runs": 1, "wall": wall}).encode(), counts)

    def _output(self):
        """What the program printed, or None; then `failure` is set."""
        try:
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                             env=self.environment, cwd=self._folder, **contest.OWN_GROUP)
        except OSError as error:
            self.failure = f"did not start: {error.strerror}"
            return None
        self._said = self._process.stdin  # what end() closes: programs of bench/harness have a file of its own for that
        try:
            return self._read(time.monotonic() + self.limit)
        finally:
            self.end()

    def _read(self, end):
        text, waited_for = b"", [self._process.stdout] + ([self._stop] if self._stop else [])
        while True:
            ready, _, _ = select.select(waited_for, [], [], max(0.0, end - time.monotonic()))
            if self._stop:
                self._stop.check()
            piece = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            text += piece
            if not ready:
                self.failure = f"timed out ({self.limit:.3g} s)"
                return None
            if not piece:
                break
        try:
            status = self._process.wait(max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.failure = f"closed its output and did not end ({self.limit:.3g} s)"
            return None
        if status != 0:
            said = text.decode(errors="replace").strip().splitlines()
            self.failure = f"killed by signal {-status}" if status < 0 else \
                (said[-1] if said else f"ended with status {status}")[:contest.LONGEST_WORD]
            return None
        return text.decode(errors="replace")


def read(folder):
    """{runtime: {row: entry}} of a folder's peers.json; empty where there is none."""
    path = os.path.join(folder, FILE)
    if not os.path.exists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            described = json.load(file)
        for runtime, entries in described.items():
            for row, entry in entries.items():
                _check(f"{path}, {runtime}, {row}", row, entry)
    except (OSError, ValueError, AttributeError) as error:
        raise mistakes.Mistake(f"{path}: {error}") from error
    return described


def _check(where, row, entry):
    if row not in rows.NAMES:
        raise mistakes.Mistake(f"{where}: '{row}' is no row; {mistakes.accepted_values(row, rows.NAMES)}")
    for key, value in entry.items():
        if not isinstance(value, str):
            raise mistakes.Mistake(f"{where}: '{key}' is {value!r}; accepted: text")
        if key not in ACCEPTED:
            raise mistakes.Mistake(f"{where}: '{key}' is no key; {mistakes.accepted_values(key, sorted(ACCEPTED))}")
    for key in NEEDED:
        if key not in entry:
            raise mistakes.Mistake(f"{where}: '{key}' is missing")
    if entry.get("unit", "s") not in wording.SECONDS:
        raise mistakes.Mistake(f"{where}: '{entry['unit']}' is no unit of time; accepted: {', '.join(wording.SECONDS)}")
    try:
        command = shlex.split(entry["command"].format(workers=1, size=1))
    except (KeyError, IndexError, ValueError):
        command = []
    if not command:
        raise mistakes.Mistake(f"{where}: '{entry['command']}' is no command; accepted in braces: workers, size")
    try:
        groups = re.compile(entry["value"]).groups
        re.compile(entry.get("check", ""))
    except re.error as error:
        raise mistakes.Mistake(f"{where}: not a regular expression: {error}") from error
    if groups != 1:
        raise mistakes.Mistake(f"{where}: 'value' has {groups} groups; accepted: one, around the figure")


def environment(folder):
    """Variables for a folder's programs: its lib, if there is one, has their libraries."""
    place = os.path.abspath(os.path.join(folder, "lib"))
    return choosing.library_path(place) if os.path.isdir(place) else {}


def offered(folder):
    """{problem: [(program, runtime, variant)]} of the folder's programs bench-<runtime>."""
    found = {}
    for name in sorted(os.listdir(folder)):
        program = os.path.abspath(os.path.join(folder, name))
        if name.startswith("bench-") and os.access(program, os.X_OK):
            for problem, variant in choosing.listed(program, environment(folder)):
                found.setdefault(problem, []).append((program, name[len("bench-"):], variant))
    return found
