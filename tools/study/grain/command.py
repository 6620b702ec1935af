# SPDX-License-Identifier: BSL-1.0
"""The command line of `quern grain` and its steps in order: plan, run, derive, report."""

import sys

from ..kit.exports import Exports
from ..kit.mistakes import Mistake
from ..kit.processor import processor_name
from ..options import CommandLine, Option, seconds, whole_number
from .page import as_html
from .plan import CommandTemplate, TimePattern, parse_grain, parse_grains, parse_workers, series_of_grains
from .records import as_json
from .runs import FailedRun, run_all
from .study import Study
from .text import as_csv, as_text
from .words import count_of_runs

NAME = "quern grain"
INTERRUPTED = 130  # a shell's exit status after SIGINT
MOST_REPETITIONS = 1000
MOST_PER_DECADE = 20  # two digits distinguish them

OPTIONS = (
    Option("--from", "The smallest grain", "N", ""),
    Option("--to", "The largest grain", "N", ""),
    Option("--per-decade", "Grains in each power of ten; 3: 1, 2, 5", "N", 3, shows_fallback=True),
    Option("--values", "The grains themselves, instead of a range", "N,N,...", ""),
    Option("--repetitions", "Runs of each kind", "N", 3, shows_fallback=True),
    Option("--workers", "Numbers of workers; all: as many as Quern would take here. Wait times need 1", "N,N,...", "1,all",
           shows_fallback=True),
    Option("--time", "Take the execution time from what the program prints: the group of this regular expression, in seconds; "
           "otherwise it is the uptime of the runtime", "PATTERN", ""),
    Option("--timeout", "Stop a run after so long; it ends the study", "SECONDS", ""),
    Option("--quick", "One grain per decade and one repetition, unless said", fallback=False),
    Option("--csv", "Write a line per run to this file", "FILE", ""),
    Option("--json", "Write everything to this file", "FILE", ""),
    Option("--html", "Write a page with charts to this file", "FILE", ""),
)

EXAMPLES = """\
Examples:
  quern grain --from 1000 --to 5e6 -- heat --points 10000000 --steps 50 --partition {partition}
  quern grain --values 1000,10000,100000 --html grain.html -- build/bin/heat --partition={size}
  quern grain --from 1e3 --to 1e6 --workers 1,2,4,all --csv grain.csv -- heat --partition {p}
Each run gets its number of workers by QUERN_THREADS: leave it away from the program's arguments.
"""

COMMAND_LINE = CommandLine(NAME, "Run a program with tasks of many sizes; show time and what goes along with it", OPTIONS, EXAMPLES)
FORMS = {"csv": as_csv, "json": as_json, "html": as_html}


def chosen_grains(asked):
    o = asked.values
    per_decade = whole_number(NAME, "--per-decade", o["per-decade"], 1, MOST_PER_DECADE)
    if o["values"]:
        if o["from"] or o["to"] or "per-decade" in asked.given:
            raise Mistake(f"{NAME}: --values beside --from, --to or --per-decade; accepted: either the values or their range")
        return parse_grains("--values", o["values"])
    if not o["from"] or not o["to"]:
        which = "--to is" if o["from"] else "--from is" if o["to"] else "the grains are"
        raise Mistake(f"{NAME}: {which} missing; give --from and --to, or --values")
    if o["quick"] and "per-decade" not in asked.given:
        per_decade = 1
    return series_of_grains(parse_grain("--from", o["from"]), parse_grain("--to", o["to"]), per_decade)


def planned_study(asked, template, quern):
    o = asked.values
    repetitions = whole_number(NAME, "--repetitions", o["repetitions"], 1, MOST_REPETITIONS)
    study = Study(template.text(), template.name)
    study.grains = chosen_grains(asked)
    study.cpus = quern.workers()
    study.workers = parse_workers("--workers", o["workers"], study.cpus)
    processor = processor_name()
    study.machine = f"{study.cpus} CPU{'' if study.cpus == 1 else 's'}{', ' + processor if processor else ''}"
    study.repetitions = 1 if o["quick"] and "repetitions" not in asked.given else repetitions
    if o["time"]:
        study.time_from = f"what the program prints, by '{o['time']}'"
    return study


def run(quern, words):
    """Runs `quern grain` with these arguments; returns the exit status."""
    asked = COMMAND_LINE.parse(words)
    if asked.wants_help:
        print(COMMAND_LINE.help(), end="")
        return 0
    template = CommandTemplate(asked.program)
    pattern = TimePattern(asked.values["time"])
    study = planned_study(asked, template, quern)
    limit = seconds(NAME, "--timeout", asked.values["timeout"])
    exports = Exports(NAME, FORMS, asked.values)
    is_interrupted, failure = False, None
    try:
        is_interrupted = run_all(template, pattern, study, quern, limit, lambda: exports.write(study, is_over=False))
    except FailedRun as failed:
        failure = failed
    if study.samples:
        print(as_text(study), end="", flush=True)
        exports.write(study, is_over=True)
    if failure:
        print(failure, end="", file=sys.stderr)
        return 1
    if is_interrupted:
        print(f"{NAME}: interrupted after {count_of_runs(len(study.samples))}", file=sys.stderr)
        return INTERRUPTED
    return 0
