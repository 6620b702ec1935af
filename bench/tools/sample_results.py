# SPDX-License-Identifier: BSL-1.0
"""Synthetic results with everything that a report may contain: many problems, failures, units, missing contenders, several
policies. For the tests, and for viewing the page without measuring:

    python3 bench/tools/sample_results.py <folder>; bench/report <folder>/*.json --problems <folder>/problems.toml --html x.html
"""

import json
import os
import random
import sys

PROBLEMS_TOML = """
[fib]
about = "made up: doubly recursive"
short.size = [30]
full.size = [30]
target = [
    { size = 30, workers = 1, contender = "quern/context", at_most = 1.75, of = "serial/serial" },
    { size = 30, workers = 8, contender = "quern/context", at_most = 1.15, of = "quern/context", of_workers = 2 },
    { size = 35, workers = 1, contender = "quern/context", at_most = 1.75, of = "serial/serial" },
    { workers = 2, contender = "quern/*", figure = "growth_mib", at_most = 0.000001 },
]
[round_trip]
about = "made up: nanoseconds"
unit = "ns"
short.size = [1000]
full.size = [1000]
target = [{ workers = 2, contender = "quern/plain", at_most = 30000000 }]
[bandwidth]
about = "made up: more is better"
unit = "GB/s"
higher_is_better = true
short.size = [1000]
full.size = [1000]
target = [{ workers = 2, contender = "quern/plain", figure = "percent_of_copy", at_least = 95 }]
[hard]
about = "made up: everybody fails somewhere"
short.size = [7]
full.size = [7]
target = [{ workers = 2, contender = "quern/context", at_most = 1.0, of = "serial/serial" }]
"""
OTHERS = ["serial_spawn", "parallel_spawn", "loop_null", "uts", "nqueens", "skynet", "matmul", "sort", "mutex_contention",
          "channel_throughput", "many_blocked", "start_stop", "wake_latency", "oversubscribed", "phase_change", "long_leaf",
          "random_dag", "heat", "metg_stencil_1d", "metg_all_to_all"]
LABELS = {"serial/serial": 1.0, "quern/context": 2.0, "quern/plain": 2.4, "tbb/task_group": 40.0, "libgomp/task": 25.0,
          "libomp/task": 60.0, "async/async": 900.0}
FAILURES = {("hard", "quern/context"): "timed out (60 s)", ("hard", "tbb/task_group"): "killed by signal 11",
            ("hard", "libgomp/task"): "wrong answer: sum <of & \"all\"> is 3 and not 4", ("fib", "async/async"):
            "failed: Resource temporarily unavailable"}


def _result(chance, title, label, workers, base):
    failure = FAILURES.get((title, label))
    share = 1.0 if label.startswith("serial") else 1.0 / min(workers, 2)
    values = [] if failure else [base * LABELS[label] * share * chance.uniform(0.97, 1.15) for _ in range(7)]
    more = {"percent_of_copy": 96.5} if title == "bandwidth" else {}
    repetitions = [{"value": v, "runs": 1, "wall": v, "cpu": v * workers, "growth_kib": 40, **more} for v in values]
    first = {"value": 2 * base, "runs": 1, "wall": base, "cpu": base, "growth_kib": 2048}
    return {"contender": label, "workers": 1 if label.startswith("serial") else workers, "size": 0, "failure": failure,
            "warm_up": first, "repetitions": repetitions}


def results(policy="default", seed=1, others=True):
    """A result as bench/run writes it."""
    chance = random.Random(seed)
    groups = []
    for title, size in [("fib", 30), ("round_trip", 1000), ("bandwidth", 1000), ("hard", 7)] + [
            (other, 1000000) for other in OTHERS if others]:
        scale = 1.0 if title in ("round_trip", "bandwidth") else 10.0 ** chance.uniform(-5, -1)
        weights = {label: chance.uniform(0.02, 1.0) for label in LABELS}
        for workers in (1, 2, 8):
            labels = [label for label in LABELS if not (title in ("round_trip", "many_blocked") and label.startswith("serial"))
                      and not (title == "long_leaf" and not label.startswith(("serial", "quern")))]
            group = [_result(chance, title, label, workers, scale * weights[label]) for label in labels]
            groups.append({"problem": title, "size": size, "workers": workers, "steal_percent": 0.4, "load": 1.5,
                           "seconds": 3.0, "complete": True, "results": group})
    machine = {"commit": "0123abc", "cpu": "A processor", "cpus": 2, "memory_gib": 23.5, "system": "Debian, Linux 6",
               "compiler": "c++ 12.2.0", "clang": "clang 19", "libraries": ["libgomp1 12"], "load": 0.2}
    return {"machine": machine, "full": False, "repetitions": 7, "policy": policy, "begun": "2026-01-01 00:00:00",
            "complete": True, "groups": groups}


def write(folder, policies=("default",), **kind):
    """problems.toml and a result for each policy in a folder; returns the paths of the results."""
    with open(os.path.join(folder, "problems.toml"), "w", encoding="utf-8") as file:
        file.write(PROBLEMS_TOML)
    paths = []
    for seed, policy in enumerate(policies):
        paths.append(os.path.join(folder, f"{policy}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(results(policy, seed, **kind), file)
    return paths


if __name__ == "__main__":
    print("\n".join(write(sys.argv[1], ("default", "sherwood", "nemesis"))))
