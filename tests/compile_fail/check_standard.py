# SPDX-License-Identifier: BSL-1.0
"""A public header compiled as C++17 says in one sentence which standard it needs. Usage: check_standard.py <compiler> <include
folder>..."""

import concurrent.futures
import pathlib
import subprocess
import sys

SENTENCE = "quern needs C++20: compile with -std=c++20 or a later standard"
COMPILER, *FOLDERS = sys.argv[1:]


def fault_of(header):
    command = [COMPILER, "-std=c++17", "-fsyntax-only", "-x", "c++", *(f"-I{folder}" for folder in FOLDERS), str(header)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    if not errors and header.name != "quern.hpp":
        return None
    if not 0 < len(errors) <= 2 or not all(SENTENCE in line for line in errors):
        return f"{header}: {len(errors)} errors, the first: {errors[0] if errors else result.stderr}"
    return None


def main():
    umbrella = pathlib.Path(FOLDERS[0], "quern", "quern.hpp")
    # Those of the layer mpi need an MPI library.
    headers = sorted(each for each in pathlib.Path(FOLDERS[0], "quern").rglob("*.hpp")
                     if "mpi" not in each.relative_to(FOLDERS[0]).parts)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(fault_of, headers) if fault]
    print("\n".join(faults) or f"{len(headers)} headers are right")
    return 1 if faults or umbrella not in headers else 0


sys.exit(main())
