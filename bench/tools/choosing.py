# SPDX-License-Identifier: BSL-1.0
"""Selections for bench/run and bench/compare: words of the command line, the problems of problems.toml in their short or full
form, and the contenders of a build directory. Errors are raised as kit.mistakes.Mistake with a text for the user."""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass

from kit import mistakes

LONGEST_START = 10  # seconds for a program to say what it offers
# OpenMP programs of gcc and clang on Quern's library: the binary of another runtime, with the library preloaded.
PRELOADED = {"quern-preload-gcc": "libgomp", "quern-preload-clang": "libomp"}
RUNTIMES = ["serial", "quern", *PRELOADED, "tbb", "libgomp", "libomp", "starpu", "async", "openblas", "openmpi", "mpich"]
PROBLEMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "problems.toml")
USUAL_WORKERS = [1, 2, 8]


@dataclass
class Step:
    """A problem of one size on one number of workers: its contenders are measured together."""
    title: str
    size: int
    workers: int
    problem: dict  # its table in problems.toml, short or full
    entries: list  # the contenders


def chosen(text, accepted, what):
    """The words of a comma-separated list; all when it is empty."""
    words = text.split(",") if text else list(accepted)
    for word in words:
        if word not in accepted:
            raise mistakes.Mistake(f"'{word}' is no {what}; {mistakes.accepted_values(word, accepted)}")
    return words


def positive(text):
    """A whole number >= 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1")
    return int(text)


def numbers(text):
    """A comma-separated list of whole numbers >= 1, for argparse."""
    return [positive(t) for t in text.split(",")]


def forms(text, full):
    """{title: table} of the problems of a comma-separated list, each in its full or short form."""
    import tomllib  # here, because bench/many also runs where Python is older than 3.11
    with open(PROBLEMS, "rb") as file:
        problems = tomllib.load(file)
    return {title: problems[title] | problems[title]["full" if full else "short"]
            for title in chosen(text, list(problems), "problem")}


def offered(build, runtimes, environment=None):
    """{problem: [(program, runtime, variant)]} of the existing programs that start here. `environment`: variables they need."""
    found = {}
    for runtime in runtimes:
        program = os.path.join(build, "bench", "bin", f"bench-{PRELOADED.get(runtime, runtime)}")
        needed = variables_of(program, runtime)
        missing = [path for path in (program, *needed.values()) if not os.path.exists(path)]
        if missing:
            print(f"no {missing[0]}: goes without {runtime}", file=sys.stderr)
            continue
        for problem, variant in listed(program, {**(environment or {}), **needed}):
            found.setdefault(problem, []).append((program, runtime, variant))
    return found


def variables_of(program, runtime):
    """Variables without which this program is not this runtime. `program`: its path, in <build>/bench/bin."""
    if runtime not in PRELOADED:
        return {}
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(program))))
    return {"LD_PRELOAD": os.path.join(build, "lib", "libquern_omp.so")}


def library_path(folder):
    """Variables by which a program finds the libraries of a folder before others."""
    before = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": folder + (f":{before}" if before else "")}


def listed(program, environment=None):
    """[(problem, variant)] that a program offers; says why and returns none if it does not start."""
    try:
        lines = subprocess.run([program, "--list"], capture_output=True, text=True, check=True,
                               timeout=LONGEST_START, env={**os.environ, **(environment or {})}).stdout.splitlines()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{program} does not start here, goes without: {_reason(error)}", file=sys.stderr)
        return []
    found = [tuple(line.split()) for line in lines]
    if any(len(each) != 2 for each in found):
        print(f"{program} lists no problems, goes without: {lines[0]}", file=sys.stderr)
        return []
    return found


def _reason(error):
    """Why a program did not start: its last line, its signal, or the system's words."""
    if isinstance(error, OSError):
        return error.strerror
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer to --list within {LONGEST_START} s"
    said = error.stderr.strip().splitlines()
    return said[-1] if said else f"killed by signal {-error.returncode}" if error.returncode < 0 else f"status {error.returncode}"


def steps(problems, entries, workers=None):
    """The steps of a run. `problems` as forms() returns them; `entries`: {title: contenders}."""
    return [Step(title, size, count, problem, entries.get(title, []))
            for title, problem in problems.items()
            for size in problem["size"]
            for count in workers or problem.get("workers", USUAL_WORKERS)]
