# SPDX-License-Identifier: BSL-1.0
"""Runs the program of docs/localities.md on two ranks: the page shows what it prints.

Usage: check_localities.py <program> <page> <starter> [options of the starter...]
"""

import os
import pathlib
import subprocess
import sys


def main():
    program, page, *starter = sys.argv[1:]
    result = subprocess.run([*starter, "-n", "2", program], env=dict(os.environ, QUERN_THREADS="2"), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=50, check=False)
    if result.returncode != 0 or not result.stdout.strip() or result.stdout not in pathlib.Path(page).read_text():
        sys.exit(f"{page} does not show this output (exit status {result.returncode}):\n{result.stdout}")
    print(f"{page} shows the output")


if __name__ == "__main__":
    main()
