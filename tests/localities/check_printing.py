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


def run(words, *arguments, **settings):
    """What the job prints, with arguments of the program, and settings by name."""
    environment = dict(os.environ)
    environment.update({f"QUERN_{name}": value for name, value in settings.items()})
    job = subprocess.run([*words[1:], "-n", str(RANKS), words[0], *arguments], env=environment, capture_output=True, text=True,
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


def check_files_without_session(words):
    counted = "/threads{locality#0/total}/count/cumulative"
    said = f"each of the {RANKS} ranks of this job appends to that file; %r in the path gives each rank a file of its own"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "all.csv"
        path.write_text("before\n", encoding="utf-8")
        _, err = run(words, "plain", PRINT_COUNTER=";".join(["/threads/count/cumulative"] + ["/runtime/*"] * 20),
                     PRINT_COUNTER_FORMAT="csv", PRINT_COUNTER_DESTINATION=str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
        firsts = [number for number, line in enumerate(lines) if line.startswith(counted)]
        size = (len(lines) - 1) // RANKS
        expect(lines[0] == "before" and firsts == [1 + each * size for each in range(RANKS)], "whole blocks of each rank", err,
               *lines)
        expect(err.count(said) == 1, "one says that all write", err)
        _, err = run(words, "plain", PRINT_COUNTER=counted, PRINT_COUNTER_DESTINATION=f"{folder}/rank.%r.txt")
        expect(said not in err and all(
            (pathlib.Path(folder) / f"rank.{each}.txt").read_text(encoding="utf-8").count(counted) == 1
            for each in range(RANKS)), "%r gives each rank its own", err)


def check_files_of_a_session(words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "job.0.txt"
        path.write_text("before\n", encoding="utf-8")
        _, err = run(words, PRINT_COUNTER="/parcels/count/sent", PRINT_COUNTER_DESTINATION=f"{folder}/job.%r.txt")
        expect([each.name for each in pathlib.Path(folder).iterdir()] == ["job.0.txt"], "only the root has a file", err)
        expect("before" not in path.read_text(encoding="utf-8"), "of this run alone")
        path.write_text("before\n", encoding="utf-8")
        _, err = run(words, PRINT_COUNTER="/parcels/count/sent", PRINT_COUNTER_DESTINATION=str(path))
        expect("before" not in path.read_text(encoding="utf-8") and "%r" not in err, "of this run alone without %r", err)


def main():
    words = sys.argv[1:]
    check_the_end(words)
    check_intervals(words)
    check_mistakes(words)
    check_files_without_session(words)
    check_files_of_a_session(words)
    print("5 passed, 0 failed")


if __name__ == "__main__":
    main()
