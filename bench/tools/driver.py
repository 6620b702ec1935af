# SPDX-License-Identifier: BSL-1.0
"""Shared by bench/run and bench/compare while they measure: the progress line on the terminal, the contenders of a step and
their turns, and the result file."""

import json
import os
import sys
import time

import choosing
import contest
import machine
from kit import interruption, mistakes


class Progress:
    """A progress line on the terminal; elsewhere a line for each step."""

    def __init__(self, total):
        self.total, self.done, self.start, self.what = total, 0, time.monotonic(), ""

    def turn(self):
        self.done += 1
        if sys.stderr.isatty():
            elapsed = time.monotonic() - self.start
            print(f"\r\033[K{self.what}: {self.done} of {self.total} repetitions, {elapsed:.0f} s", end="",
                  file=sys.stderr, flush=True)

    def step_ends(self, seconds):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        else:
            print(f"{self.what}: {seconds} s", file=sys.stderr, flush=True)


class Output:
    """The result file. Opened before the run, so that a path that cannot be written is reported before measuring, and written
    after every step, so that no measurement is lost."""

    def __init__(self, path):
        self.path = path
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            open(path, "ab").close()
        except OSError as error:
            self._give_up(error)

    def write(self, result):
        try:
            with open(self.path, "w", encoding="utf-8") as file:
                json.dump(result, file, indent=1)
                file.write("\n")
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error):
        raise mistakes.Mistake(f"cannot write the results to {self.path}: {error.strerror}") from error


def contender(step, program, runtime, variant, stop):
    """A process of a step, not started yet."""
    return contest.Contender(program, step.title, variant, 1 if runtime == "serial" else step.workers, step.size,
                             f"{runtime}/{variant}", limit=step.problem.get("limit", 60),
                             environment={**step.problem.get("environment", {}), **choosing.variables_of(program, runtime)}, stop=stop)


def play(step, contenders, rounds, progress, alternate=False):
    """Runs the turns of a step's contenders. Returns facts about the step besides their results; the step is incomplete if the
    user stops it."""
    progress.what = f"{step.title} {step.size}, {step.workers} workers"
    before, start, complete = machine.cpu_ticks(), time.monotonic(), True
    try:
        contest.play(contenders, rounds, fresh=step.problem.get("fresh", False), on_turn=progress.turn, alternate=alternate)
    except interruption.Stopped:
        complete = False
    seconds = round(time.monotonic() - start, 1)
    progress.step_ends(seconds)
    return {"problem": step.title, "size": step.size, "workers": step.workers, "complete": complete,
            "steal_percent": machine.stolen_since(before), "load": os.getloadavg()[0], "seconds": seconds}
