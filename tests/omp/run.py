#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs OpenMP programs on Quern's library.

Usage: run.py programs|messages <libquern_omp.so> <folder of libgomp.so.1> <program>...
"""

import os
import subprocess
import sys
import time

THREADS = (1, 2, 8)
LIMIT_S = 100

# environment, argument of the program `missing`, what it must say, whether it continues
MESSAGES = (
    ({}, "region", "GOMP_parallel_start is not implemented", False),
    ({}, "lock", "omp_unset_lock", False),
    ({"OMP_NUM_THREADS": "3,0"}, None, "OMP_NUM_THREADS = '3,0' is not used; accepted: numbers of 1 to 4095", True),
    ({"OMP_NUM_THREADS": "3"}, None, "threads 3 schedule 2,1", True),
    ({"OMP_SCHEDULE": "fast"}, None, "OMP_SCHEDULE = 'fast' is not used; accepted: [monotonic:", True),
    ({"OMP_SCHEDULE": "guided,7"}, None, "schedule 3,7", True),
    ({"OMP_DYNAMIC": "perhaps"}, None, "OMP_DYNAMIC = 'perhaps' is not used; accepted: true or false", True),
    ({"OMP_THREAD_LIMIT": "-1"}, None, "OMP_THREAD_LIMIT = '-1' is not used; accepted: a number of 1", True),
    ({"OMP_THREAD_LIMIT": "6"}, "limit", "within the limit", True),
    ({"OMP_STACKSIZE": "1X"}, None, "OMP_STACKSIZE = '1X' is not used; accepted: a number with", True),
    ({"OMP_STACKSIZE": "64M"}, None, "OMP_STACKSIZE = '64M' is not used; accepted: at most 10M", True),
    ({"OMP_MAX_ACTIVE_LEVELS": "x"}, None, "OMP_MAX_ACTIVE_LEVELS = 'x' is not used", True),
    ({"OMP_WAIT_POLICY": "busy"}, None, "accepted: active or passive", True),
    ({"OMP_CANCELLATION": "perhaps"}, None, "OMP_CANCELLATION = 'perhaps' is not used; accepted: true or false", True),
    ({"OMP_NUM_TEAMS": "0"}, None, "OMP_NUM_TEAMS = '0' is not used; accepted: a number of 1 or more", True),
    ({"OMP_TEAMS_THREAD_LIMIT": "x"}, None, "OMP_TEAMS_THREAD_LIMIT = 'x' is not used; accepted: a number of 1", True),
    ({"OMP_SCHEDULE": "fast", "QUERN_OMP_STRICT": "on"}, None, "OMP_SCHEDULE = 'fast' is not used", False),
)


def environment(**more):
    own = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    return {**own, **more}


def run(words, variables):
    try:
        done = subprocess.run(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S,
                              check=False)
    except FileNotFoundError:
        return None, f"{words[0]} is not built: ninja test_omp_programs"
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def run_programs(ways, programs):
    failures = count = 0
    for program in programs:
        for way in ways:
            for threads in THREADS:
                start = time.monotonic()
                result, text = run([program, "--on-quern"], environment(OMP_NUM_THREADS=str(threads), **way))
                count += 1
                what = f"{os.path.basename(program)}, {threads} threads, {next(iter(way))}"
                print(f"{what}: {time.monotonic() - start:.2f} s", flush=True)
                if result != 0:
                    failures += 1
                    print(f"FAILED {what}: {'time limit' if result is None else result}\n{text}", flush=True)
    print(f"{count} runs, {failures} failures")
    return failures


def run_messages(way, program):
    failures = 0
    for variables, argument, expected, continues in MESSAGES:
        result, text = run([program] + ([argument] if argument else []), environment(**way, **variables))
        if expected not in text or (result == 0) != continues:
            failures += 1
            print(f"FAILED {variables} {argument}: {result}, expected {expected!r}\n{text}")
    print(f"{len(MESSAGES)} messages, {failures} failures")
    return failures


def main():
    kind, library, folder, *programs = sys.argv[1:]
    ways = ({"LD_PRELOAD": library}, {"LD_LIBRARY_PATH": folder})
    others = [p for p in programs if os.path.basename(p) != "missing"]
    if kind == "programs":
        return 1 if run_programs(ways, others) else 0
    return 1 if run_messages(ways[1], next(p for p in programs if p not in others)) else 0


sys.exit(main())
