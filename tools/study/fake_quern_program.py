#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Replaces a program of Quern in the tests of `quern grain`: computes nothing, and writes the counters that a program with 10^7
points in tasks of --size points might have. A point takes 1 ns, or 1.5 ns on several workers from 50 000 points on. A task
costs 500 ns. Workers wait for one another for a tenth of a task."""

import argparse
import json
import os
import sys
import time

POINTS = 10_000_000


def model(size, workers):
    """Counters of the whole, by name: value and unit. Times in ns."""
    tasks = POINTS / size
    duration = size * (1.5 if workers > 1 and size >= 50_000 else 1.0)
    executing, managing, idling = duration * tasks, 500.0 * tasks, 0.1 * duration * workers
    everything = executing + managing + idling
    return {
        "time/average": (duration, "ns"), "time/average-overhead": (500.0, "ns"),
        "time/cumulative": (executing, "ns"), "time/cumulative-overhead": (managing, "ns"),
        "time/overall": (everything, "ns"), "count/cumulative": (tasks, ""),
        "idle-rate": (1e4 * (everything - executing) / everything, "0.01 %"),
        "starvation-rate": (1e4 * idling / everything, "0.01 %"),
        "overhead-rate": (1e4 * managing / everything, "0.01 %"),
        "lost-rate": (100.0 * workers, "0.01 %"),
        "count/pending-accesses": (2 * tasks, ""), "count/pending-misses": (None, ""),
        "uptime": (everything / workers, "ns"),
    }


def counters(size, workers):
    for name, (value, unit) in model(size, workers).items():
        thing = "runtime" if name == "uptime" else "threads"
        yield {"name": f"/{thing}{{locality#0/total}}/{name}", "value": value, "unit": unit,
               "state": "absent" if value is None else "ok", "why": "not counted here" if value is None else ""}
    for worker in range(workers):
        yield {"name": f"/threads{{locality#0/worker-thread#{worker}}}/time/average", "value": 1.0, "unit": "ns",
               "state": "ok", "why": ""}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--fail-at", type=int, help="exit status 3 at that size")
    parser.add_argument("--hang-at", type=int, help="write the process id to --flag at that size, then sleep")
    parser.add_argument("--flag")
    parser.add_argument("--workers", type=int, help="pay no heed to QUERN_THREADS")
    parser.add_argument("--garbage", action="store_true", help="write something else than counters")
    parser.add_argument("--note", help="append the environment's QUERN_* to this file")
    options = parser.parse_args()
    workers = options.workers or int(os.environ["QUERN_THREADS"])
    print(f"tasks of {options.size}")
    print(f"time {options.size / 1000:.3f} s", file=sys.stderr)
    if options.note:
        with open(options.note, "a", encoding="utf-8") as file:
            file.write(json.dumps({k: v for k, v in os.environ.items() if k.startswith("QUERN_")}) + "\n")
    if options.size == options.hang_at:
        with open(options.flag, "w", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(60)
    if options.size == options.fail_at:
        print("\n".join(f"line {i}" for i in range(100)))
        sys.exit(3)
    with open(os.environ["QUERN_PRINT_COUNTER_DESTINATION"], "a", encoding="utf-8") as file:
        line = {"time_s": 1.0, "sequence": 0, "counters": list(counters(options.size, workers))}
        file.write("garbage\n" if options.garbage else json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
