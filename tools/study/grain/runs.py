# SPDX-License-Identifier: BSL-1.0
"""Runs the program of a study repeatedly, with different grains and numbers of workers, and reads its counters. Settings are
passed in the environment, so that any program of Quern can be studied unmodified. Repetitions are the outermost loop: a change
of the machine's speed then affects all grains, and an interrupted study has results for every grain."""

import math
import os
import tempfile

from ..child import NO_LIMIT, Children
from ..counter_log import read_counter_log
from ..progress import Progress
from .metrics import TABLE
from .study import Sample, derive
from .words import count_of_workers

COUNTERS = "/threads{*}/*;/threadqueue/length;/runtime/uptime"
LAST_LINES = 20  # of the output of a program that failed


class FailedRun(Exception):
    """A run that cannot be part of the study; the text says why and is printed unchanged."""


def planned(study):
    """Every run of the study, in order."""
    return [Sample(workers, grain, repetition) for repetition in range(study.repetitions) for workers in study.workers
            for grain in study.grains]


def run_all(template, time_pattern, study, quern, limit_s=NO_LIMIT, after_each=lambda: None):
    """Makes the runs that the study's grains, workers and repetitions request, and stores their samples in it, with what is
    derived from them. Returns whether the user has stopped it. A program that fails, or takes longer than the limit, ends the
    runs by FailedRun; earlier samples stay."""
    samples = planned(study)
    with Children(quern, "quern grain") as children, tempfile.TemporaryDirectory(prefix="quern-grain-") as folder, \
            Progress(len(samples)) as progress:
        for sample in samples:
            what = f"{count_of_workers(sample.workers)}, {study.name} {sample.grain}"
            progress.begin(what)
            try:
                missing = _measure(template, time_pattern, sample, what, children, os.path.join(folder, "counters.json"),
                                   limit_s)
            except FailedRun:
                if children.interrupted:
                    return True
                raise
            if not study.samples:
                study.missing = missing
            study.samples.append(sample)
            derive(study)
            after_each()
            progress.end(what, sample.values["wall_s"])
            if children.interrupted:
                return True
    study.is_complete = True
    return False


def _measure(template, time_pattern, sample, what, children, log, limit_s):
    """Fills in one sample; returns the counters that had no value."""
    words = template.filled(sample.grain)
    if os.path.exists(log):
        os.remove(log)
    outcome = children.run(words, _variables(sample.workers, log), limit_s)
    if outcome.is_stopped or outcome.failure:
        how = f"was stopped after {limit_s:g} s, by --timeout" if outcome.is_stopped else f"failed with {outcome.failure}"
        raise FailedRun(f"quern grain: '{words[0]}' {how} ({what}); its output ends:\n{tail_of(outcome.output)}")
    reading = _read_counters(log, words[0], sample.workers)
    time = time_pattern.find(outcome.output)
    if time is None:
        raise FailedRun(f"quern grain: --time matches nothing in the output of '{words[0]}':\n{tail_of(outcome.output)}")
    sample.values |= {"time_s": time, "wall_s": outcome.wall_s, "processor_s": outcome.cpu_s}
    sample.values |= {metric.key: reading.total(metric.counter) for metric in TABLE if metric.counter}
    return [_with_reason(metric.counter, reading) for metric in TABLE
            if metric.counter and math.isnan(reading.total(metric.counter))]


def _variables(workers, log):
    return {"QUERN_THREADS": str(workers), "QUERN_PRINT_COUNTER": COUNTERS, "QUERN_PRINT_COUNTER_FORMAT": "json",
            "QUERN_PRINT_COUNTER_DESTINATION": log, "QUERN_PRINT_COUNTER_AT": "shutdown", "QUERN_PRINT_COUNTER_INTERVAL": None}


def _read_counters(log, program, asked):
    reading = read_counter_log(log)
    if reading is None:
        raise FailedRun(f"quern grain: '{program}' has written no counters; is it a program on Quern, does it make a runtime, "
                        "does it end by itself?\n")
    if reading.workers not in (0, asked):
        raise FailedRun(f"quern grain: '{program}' ran on {reading.workers} workers where {asked} were asked for; leave their "
                        "number to QUERN_THREADS, away from its command line\n")
    return reading


def _with_reason(counter, reading):
    why = reading.missing.get(counter)
    return f"{counter} ({why})" if why else counter


def tail_of(output):
    """The last lines, each indented."""
    lines = output.rstrip("\r\n").split("\n")[-LAST_LINES:]
    return "".join(f"  {line}\n" for line in lines) if any(lines) else "  (it has written nothing)\n"
