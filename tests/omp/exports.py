#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Whether programs of clang find the same functions omp_* as those of gcc.

Usage: exports.py <libquern_omp.so> <folder of libomp.so.5>

Each name omp_* that the library exports with a version of gcc's must be there with VERSION too (src/omp/abi/kmpc_names.cpp),
each entry point of clang's with VERSION, and libomp.so.5 and libiomp5.so must lead to the library.
"""

import os
import subprocess
import sys


def main():
    library, folder = sys.argv[1:]
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    versions = {}
    for line in lines.splitlines():
        name, _, version = line.split()[-1].replace("@@", "@").partition("@")
        versions.setdefault(name, set()).add(version)
    wrong = [f"{name} is exported as {sorted(of)}, not with VERSION: add it to src/omp/abi/kmpc_names.cpp"
             for name, of in sorted(versions.items()) if name.startswith("omp_") and "VERSION" not in of]
    wrong += [f"{name} is exported as {sorted(of)}; expected: VERSION"
              for name, of in sorted(versions.items()) if name.startswith("__kmpc_") and of != {"VERSION"}]
    wrong += [f"{folder}/{name} does not lead to {library}" for name in ("libomp.so.5", "libiomp5.so")
              if not os.path.samefile(os.path.join(folder, name), library)]
    for each in wrong:
        print(each)
    count = sum(1 for of in versions.values() if "VERSION" in of)
    print(f"{count} names with VERSION, {len(wrong)} failures")
    return 1 if wrong else 0


sys.exit(main())
