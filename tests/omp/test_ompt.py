#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Whether a tool of the OpenMP tools interface learns of all that happens.

Usage: test_ompt.py <libquern_omp.so> <counting tool> <folder of programs>

The tool counts the callbacks of programs of tests/omp, compiled by gcc and by clang, with 1, 2 and 8 threads, and says
whether they balance. Then: how a tool is found, and what is said of one that cannot be loaded.
"""

import os
import subprocess
import sys

PROGRAMS = ("constructs_O0", "tasks_O3", "loops", "cancel", "events", "task_reductions", "several_threads", "clang_loops_O3",
            "clang_tasks_O0", "clang_constructs_O3", "clang_loops", "clang_cancel", "clang_events", "clang_task_reductions",
            "clang_several_threads")
THREADS = (1, 2, 8)
LIMIT_S = 100


def run(program, **variables):
    own = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    try:
        done = subprocess.run([program, "--on-quern"], env={**own, **variables}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def check_balance(library, tool, folder):
    failures = count = 0
    for program in PROGRAMS:
        path = os.path.join(folder, program)
        if not os.path.exists(path) and program.startswith("clang_"):
            continue  # clang has not been found
        for threads in THREADS:
            result, text = run(path, LD_PRELOAD=library, OMP_TOOL_LIBRARIES=tool, OMP_NUM_THREADS=str(threads),
                               OMP_CANCELLATION="true" if "cancel" in program else "false")
            count += 1
            if result != 0 or "tool: balanced" not in text:
                failures += 1
                print(f"FAILED {program}, {threads} threads: {result}\n{text}", flush=True)
    print(f"{count} runs with the tool, {failures} failures")
    return failures


def check_search(library, tool, program):
    missing = "/no/such/tool.so"
    started = "tool: started by Quern"
    cases = (
        ("in the process", {"LD_PRELOAD": f"{library}:{tool}"}, [started, "tool: balanced"], []),
        ("disabled", {"OMP_TOOL": "disabled", "OMP_TOOL_LIBRARIES": tool}, [], ["tool:"]),
        ("the second of two", {"OMP_TOOL_LIBRARIES": f"{missing}:{tool}"},
         [f"quern: OMP_TOOL_LIBRARIES: '{missing}' is not used: ", started, "tool: balanced"], []),
        ("none that can be loaded", {"OMP_TOOL_LIBRARIES": missing}, [f"'{missing}' is not used: "], ["tool: started"]),
        ("a library that is no tool", {"OMP_TOOL_LIBRARIES": "libm.so.6", "OMP_TOOL_VERBOSE_INIT": "stdout"},
         ["libm.so.6 has no function ompt_start_tool", "no tool is used"], ["tool: started"]),
        ("the search is told", {"OMP_TOOL_LIBRARIES": tool, "OMP_TOOL_VERBOSE_INIT": "stderr"},
         ["the process has no function ompt_start_tool", f"{tool} has a tool", "has been initialized"], []),
        ("a wrong value", {"OMP_TOOL": "perhaps", "OMP_TOOL_LIBRARIES": tool},
         ["quern: OMP_TOOL = 'perhaps' is not used; accepted: enabled or disabled", started], []),
    )
    failures = 0
    for what, variables, expected, unexpected in cases:
        result, text = run(program, **{"LD_PRELOAD": library, "OMP_NUM_THREADS": "2", **variables})
        if result != 0 or any(each not in text for each in expected) or any(each in text for each in unexpected):
            failures += 1
            print(f"FAILED {what}: {result}, expected {expected}, not {unexpected}\n{text}")
    print(f"{len(cases)} ways to find a tool, {failures} failures")
    return failures


def main():
    library, tool, folder = sys.argv[1:]
    failures = check_balance(library, tool, folder)
    failures += check_search(library, tool, os.path.join(folder, "several_threads"))
    return 1 if failures else 0


sys.exit(main())
