# SPDX-License-Identifier: BSL-1.0
"""The rows of bench/many, the most important first. Each is a problem of problems.toml in one size, with the contenders that
are worth their time on many cores; or, `heat_auto`, an application.

    for row in chosen("fib,uts_t3"): row.problem, row.size_for(16)
"""

import fnmatch
from dataclasses import dataclass

from kit import mistakes

# Written for each row: contenders beside Quern's.
TASKS = ("tbb/task_group", "libgomp/task", "libomp/task")
ALGORITHM = ("quern/par", "tbb/par", "serial/serial")
DEPENDENT = ("quern/domain", "tbb/flow_graph", "libgomp/depend", "libomp/depend")
DENSE = ("quern/domain", "libgomp/depend", "libomp/depend", "openblas/threads")


@dataclass(frozen=True)
class Row:
    """`size` 0: the number of workers. `limit`: seconds for a repetition. `least_workers`: with fewer it measures nothing."""
    name: str
    problem: str
    size: int
    contenders: tuple
    limit: float = 6.0
    least_workers: int = 1

    def size_for(self, workers):
        return self.size or workers

    def wants(self, label):
        """Whether a contender, e.g. "quern/par", belongs to the row."""
        return any(fnmatch.fnmatchcase(label, pattern) for pattern in self.contenders)


MILLION = 1_048_576
ROWS = (
    Row("copy_if", "alg_copy_if", 4_000_000, ALGORITHM),
    Row("inclusive_scan", "alg_inclusive_scan", 4_000_000, ALGORITHM),
    Row("reduce", "alg_reduce", 4_000_000, ALGORITHM),
    Row("transform", "alg_transform", 4_000_000, ALGORITHM),
    Row("count_if", "alg_count_if", 4_000_000, ALGORITHM),
    Row("find_if", "alg_find_if", 4_000_000, ALGORITHM),
    Row("serial_spawn", "serial_spawn", MILLION, ("quern/scope", "quern/task_group", *TASKS)),
    Row("uts_t3", "uts", 2000, ("quern/context", "quern/scope", *TASKS, "serial/serial")),
    Row("leaves", "loop_null", MILLION, ("*/grain_1",)),
    Row("parallel_spawn", "parallel_spawn", MILLION, ("quern/fork", "tbb/task_group", "lib*/parallel_for")),
    Row("loop_default", "loop_null", MILLION, ("*/default", "tbb/static")),
    Row("long_leaf", "long_leaf", 1000, ("quern/*", *TASKS), least_workers=2),
    Row("phase_change", "phase_change", 100_000, ("quern/*", *TASKS), least_workers=2),
    Row("shared_group", "parallel_spawn", MILLION, ("quern/task_group", "tbb/task_group")),
    Row("stencil", "metg_stencil_1d", 0, ("quern/domain", "quern/replay", "quern/dataflow", "tbb/flow_graph*", "lib*/depend"),
        20.0, 2),
    Row("channel_1", "channel", 1, ("quern/channel", "tbb/bounded_queue", "async/mutex_queue"), least_workers=2),
    Row("channel_4", "channel", 4, ("quern/channel", "tbb/bounded_queue", "async/mutex_queue"), least_workers=2),
    Row("cholesky", "cholesky_256", 4096, DENSE, 20.0),
    Row("lu", "lu_128", 4096, DENSE, 20.0),
    Row("qr", "qr_256", 4096, DENSE, 20.0),
    Row("skynet", "skynet", 1_000_000, ("quern/context", "quern/scope", *TASKS)),
    Row("nqueens", "nqueens", 12, ("quern/context", "quern/plain", *TASKS)),
    Row("loop_1ns", "loop_1ns", 10_000_000, ("*/default", "tbb/affinity", "lib*/static", "lib*/guided")),
    Row("fib", "fib", 35, ("quern/context", "quern/plain", *TASKS, "serial/serial")),
    Row("sort", "sort", 10_000_000, ("quern/context", "tbb/parallel_sort", *TASKS)),
    Row("round_trip", "future_round_trip", 100_000, ("quern/*", *TASKS)),
    Row("mutex_contention", "mutex_contention", 1_000_000, ("quern/mutex", "tbb/mutex", "tbb/spin_mutex", "lib*/lock")),
    Row("wake_latency", "wake_latency", 50, ("quern/*", *TASKS), least_workers=2),
    Row("many_dependent", "many_dependent", 100_000, DEPENDENT),
    Row("heat_auto", "heat_auto", 100_000_000, ("quern/auto",), 60.0),
    Row("alg_sort", "alg_sort", 4_000_000, ALGORITHM),
    Row("alg_stable_sort", "alg_stable_sort", 4_000_000, ALGORITHM),
    Row("alg_search", "alg_search", 4_000_000, ALGORITHM),
    Row("alg_partition", "alg_partition", 4_000_000, ALGORITHM),
    Row("dependent_chain", "dependent_chain", 100_000, DEPENDENT),
    Row("dependent_accesses", "dependent_accesses", 4, DEPENDENT),
    Row("block_resume", "block_resume", 1000, ("quern/semaphore", "quern/suspend", "tbb/suspend")),
    Row("start_stop", "start_stop", 0, ("quern/*", "tbb/*")),
    Row("heat", "heat", 100_000_000, ("quern/parallel_for", "quern/dataflow_10000", "tbb/parallel_for", "lib*/static"), 30.0),
)
NAMES = [row.name for row in ROWS]

# Programs of a build that print their figure once, in the form of peers.json: {row: description}.
APPLICATIONS = {
    "heat_auto": {
        "about": "the application heat with --partition auto, which chooses the size of its tasks while it runs",
        "variant": "auto",
        "command": "bin/heat --points {size} --steps 50 --threads {workers} --partition auto",
        "value": r"^time +([0-9.]+) s",
        "check": "conserved",
    },
}


def chosen(text):
    """The rows of a comma-separated list, in the order of ROWS; all when it is empty."""
    names = text.split(",") if text else NAMES
    for name in names:
        if name not in NAMES:
            raise mistakes.Mistake(f"'{name}' is no row; {mistakes.accepted_values(name, NAMES)}")
    return [row for row in ROWS if row.name in names]


def in_order_of_importance(rows, counts):
    """[(row, workers)]: all rows with the most workers, then with one, then with the other numbers, larger ones first."""
    most = max(counts)
    order = sorted(set(counts), key=lambda count: (count != most, count != 1, -count))
    return [(row, count) for count in order for row in rows if count >= row.least_workers]
