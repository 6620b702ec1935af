#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that --quern:print-counter prints the counters of a whole job, once.

Usage: check_printing.py <printing_program> <starter> [its options...]"""

import os
import pathlib
import subprocess
import sys
import tempfile

RANKS = 3
CALLS = 100


def run(words, **settings):
    """What the job prints, with settings by name."""
    environment = dict(os.environ)
    environment.update({f"QUERN_{name}": value for name, value in settings.items()})
    job = subprocess.run([*words[1:], "-n", str(RANKS), words[0]], env=environment, capture_output=True, text=True,
                         timeout=100)
    if job.returncode != 0:
        sys.exit(f"check_printing.py: exit status {job.returncode} with {settings}\n{job.stdout}{job.stderr}")
    return job.stdout, job.stderr


def expect(holds, what, *texts):
    if not holds:
        sys.exit("\n".join(["check_printing.py: " + what, *texts]))


def values_of(text):
    """The counters of the printed lines, by name."""
    lines = [line.split() for line in text.splitlines() if line.startswith("  /")]
    return {words[0]: float(words[1]) for words in lines}


def check_the_end(words):
    out, err = run(words, PRINT_COUNTER="/parcels/count/sent;/threads{locality#2/total}/count/cumulative")
    expect(out.count("counters after") == 1, "one process prints", out, err)
    values = values_of(out)
    expect(list(values) == [
        "/parcels{locality#0/total}/count/sent", "/parcels{locality#1/total}/count/sent",
        "/parcels{locality#2/total}/count/sent", "/threads{locality#2/total}/count/cumulative"
    ], "counters by locality", out, err)
    expect([values[f"/parcels{{locality#{each}/total}}/count/sent"] for each in range(RANKS)] == [CALLS, CALLS, 0],
           "calls of the root and answers of locality 1", out, err)


def check_intervals(words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "job.csv"
        run(words, PRINT_COUNTER="/parcels{locality#*/total}/count/sent", PRINT_COUNTER_INTERVAL="50",
            PRINT_COUNTER_FORMAT="csv-short", PRINT_COUNTER_DESTINATION=str(path))
        text = path.read_text(encoding="utf-8")
    rows = [row.split(",") for row in text.splitlines()]
    numbers = [row for row in rows if all(word.replace(".", "", 1).isdigit() for word in row)]
    expect(len(numbers) >= 2 and len({len(row) for row in numbers}) == 1, "rows while the job runs", text)
    sent = [float(row[-RANKS]) for row in numbers]
    expect(sent == sorted(sent) and sent[-1] >= CALLS, "the root's calls grow", text)


def check_mistakes(words):
    out, err = run(words, PRINT_COUNTER="/threads{locality#7/total}/count/cumulative;/parcels{locality#0/total}/count/sent")
    words_7 = "print-counter names counters of locality#7, which are not printed; accepted: locality#0 to locality#2"
    expect(err.count(words_7) == 1, "a locality that is not there", out, err)
    expect(list(values_of(out)) == ["/parcels{locality#0/total}/count/sent"], "the others are printed", out, err)


def main():
    words = sys.argv[1:]
    check_the_end(words)
    check_intervals(words)
    check_mistakes(words)
    print("3 passed, 0 failed")


if __name__ == "__main__":
    main()
