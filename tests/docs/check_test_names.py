# SPDX-License-Identifier: BSL-1.0
"""Checks that the tests that a document names exist: without its test, a claim is unchecked.

Usage: check_test_names.py <source directory> <document>...
In a table, the last cell names tests in backticks: `suite.case`, or `case` alone after one of the same suite.
"""

import pathlib
import re
import sys

CASE = re.compile(r"\bTEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)")
NAME = re.compile(r"`([a-z]\w*)(?:\.(\w+))?`")


def main():
    source = pathlib.Path(sys.argv[1])
    known = set()
    for file in (source / "tests").rglob("*_test.cpp"):
        known.update(CASE.findall(file.read_text()))
    suites = {suite for suite, _ in known}
    named = faults = 0
    for document in sys.argv[2:]:
        for line in (source / document).read_text().splitlines():
            cells = line.split("|")
            if len(cells) < 4 or not any(name[0] in suites for name in NAME.findall(cells[-2])):
                continue
            suite = None
            for first, second in NAME.findall(cells[-2]):
                suite, case = (first, second) if first in suites else (suite, first)
                if case and "_" in case:
                    named += 1
                    if (suite, case) not in known:
                        faults += 1
                        print(f"{document}: no test {suite}.{case}")
    print(f"{named} tests named, {faults} faults")
    sys.exit(1 if faults or not named else 0)


if __name__ == "__main__":
    main()
