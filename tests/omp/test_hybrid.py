#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs a program of MPI and OpenMP, whose tasks make blocking calls, on Quern's library for both.

Usage: test_hybrid.py <libquern_omp_<library>.so> <program> <starter> [<option of the starter>...]
"""

import os
import signal
import subprocess
import sys
import threading

LIMIT_S = 200

# case, how much of it, ranks, threads of each
CASES = (
    ("pair", 1, 2, 1), ("pair", 1, 2, 2),
    ("order", 300, 2, 1), ("order", 300, 2, 2),
    ("nested", 1, 2, 1), ("nested", 1, 1, 3),
    ("region", 1, 2, 1), ("region", 1, 1, 2),
    ("state", 100, 1, 1), ("state", 100, 2, 2),
    ("locks", 20, 2, 1), ("locks", 20, 2, 2),
    ("heat", 20, 2, 1), ("heat", 20, 3, 1), ("heat", 20, 2, 2),
    ("many", 100000, 1, 1), ("many", 10000, 2, 2),
    ("deep", 100, 2, 1), ("deep", 100000, 1, 1), ("deep", 100000, 1, 2),
)


def words_of(library, program, starter, case, amount, ranks):
    return [*starter, "-n", str(ranks), "env", "LD_PRELOAD=" + library, program, case, str(amount)]


def environment(threads, **more):
    own = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    return {**own, "OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", **more}


def end(started):
    try:
        os.killpg(started.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def start(words, variables):
    return subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", start_new_session=True)


def run_case(library, program, starter, case):
    name, amount, ranks, threads = case
    started = start(words_of(library, program, starter, name, amount, ranks), environment(threads))
    try:
        text, _ = started.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        end(started)
        text, _ = started.communicate()
        text += f"\nit has not ended within {LIMIT_S} s"
    end(started)
    if started.returncode != 0:
        print(f"{name} {amount}, {ranks} ranks, {threads} threads: status {started.returncode}\n{text}")
    return started.returncode == 0


def names_hang(library, program, starter):
    """A receive that nothing sends to: the program waits, and a report names the call and its place."""
    started = start(words_of(library, program, starter, "hang", 1, 1),
                    environment(1, QUERN_HANG_REPORT="1"))
    limit = threading.Timer(LIMIT_S, end, [started])
    limit.start()
    text = ""
    for line in started.stdout:
        text += line
        if "keeps this quiet" in line:
            break
    limit.cancel()
    end(started)
    started.communicate()
    wanted = ("for MPI_Recv from rank 0 of MPI_COMM_WORLD, tag 77", "receive(int, int) at ", "hybrid.cpp:", "1 task of member 0 of a team of 1")
    missing = [each for each in wanted if each not in text]
    if missing:
        print(f"hang: the report does not say {missing}:\n{text}")
    return not missing


def main():
    library, program, *starter = sys.argv[1:]
    failures = sum(not run_case(library, program, starter, case) for case in CASES)
    failures += not names_hang(library, program, starter)
    print(f"{len(CASES) + 1} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
