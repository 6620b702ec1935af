# SPDX-License-Identifier: BSL-1.0
"""Reads the output of --quern:print-counter-format=json: one line, one object, for each reading. Unknown keys are ignored, so
that the format may grow."""

import json
from dataclasses import dataclass, field

from .kit.medians import UNKNOWN

TASKS = "/threads/count/cumulative"
SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "0.01 %": 1e-4, "%": 1e-2}  # to seconds, or to a share of 1


@dataclass
class Reading:
    """One line: all counters at one moment."""
    time_s: float = 0.0
    workers: int = 0  # the number that have counters of their own; 0: none
    # Of the whole program: "/threads/time/average" to its value, in seconds, as a ratio or a plain number, according to its
    # unit.
    totals: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)  # of the whole program: name to why it has no value

    def total(self, name):
        """UNKNOWN if there is none."""
        return self.totals.get(name, UNKNOWN)


def read_counter_log(path):
    """The Reading at the end of the program; of several runtimes, that with the most tasks. None when the file is missing or
    empty. RuntimeError with file and line for any other content."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError:
        return None
    best = None
    for number, line in enumerate(lines, 1):
        if line.strip(b" \t\r"):
            try:
                reading = _parse(line)
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                raise RuntimeError(f"{path}:{number}: not a line of counters: {error}") from error
            if best is None or not reading.total(TASKS) < best.total(TASKS):
                best = reading
    return best


def _parse(line):
    line = _of_type(dict, json.loads(line.decode(), parse_constant=_refuse_constant))
    reading, workers = Reading(_of_type((int, float), line.get("time_s", 0.0))), set()
    for counter in _of_type(list, line["counters"]):
        instance, name = _split_name(_of_type(str, _of_type(dict, counter)["name"]))
        if "worker-thread#" in instance:
            workers.add(instance)
        elif "pool#" not in instance:  # of the whole runtime
            value = counter.get("value")
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                reading.totals[name] = value * SCALES.get(_of_type(str, counter.get("unit", "")), 1.0)
            else:
                reading.missing[name] = _of_type(str, counter.get("why", ""))
    reading.workers = _count_workers(workers)
    return reading


def _split_name(name):
    """ "/threads{locality#0/total}/time/average" as its instance and "/threads/time/average"."""
    front, brace, rest = name.partition("{")
    instance, end, back = rest.partition("}")
    return (instance, front + back) if brace and end else ("", name)


def _count_workers(instances):
    """A worker may be listed twice, by itself and in its pool."""
    in_pools = sum("pool#" in instance for instance in instances)
    return max(in_pools, len(instances) - in_pools)


def _of_type(types, value):
    if not isinstance(value, types):
        raise TypeError(f"{json.dumps(value)} where {types} is wanted")
    return value


def _refuse_constant(word):
    raise ValueError(f"{word} is no JSON")
