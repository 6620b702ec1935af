# SPDX-License-Identifier: BSL-1.0
"""The targets of problems.toml: whether each is reached, missed, or not measured in a run.

    rows = evaluate(problems, runs)   # a row for each target, in it an Outcome for each run
"""

import fnmatch
from dataclasses import dataclass, field

import figures
import wording

ACCEPTED = {"workers", "contender", "at_most", "at_least", "of", "of_workers", "size", "figure"}
REACHED, MISSED, UNKNOWN = "reached", "not reached", "not measured"
UNITS = {"growth_mib": "MiB", "cpu": "s", "wall": "s"}  # of figures that every repetition has


class BadTarget(Exception):
    """A target that is invalid; the text says which and why."""


@dataclass
class Outcome:
    state: str
    figure: str = ""  # as text; the reason if there is none


@dataclass
class Target:
    problem: str
    text: str
    outcomes: list = field(default_factory=list)


def check(problems):
    """Throws BadTarget for the first invalid target."""
    for problem, table in problems.items():
        for target in table.get("target", []):
            where = f"problems.toml, {problem}, target {target}"
            for key in target:
                if key not in ACCEPTED:
                    raise BadTarget(f"{where}: '{key}' is no key; accepted: {', '.join(sorted(ACCEPTED))}")
            for key in ("workers", "contender"):
                if key not in target:
                    raise BadTarget(f"{where}: '{key}' is missing")
            if ("at_most" in target) == ("at_least" in target):
                raise BadTarget(f"{where}: say either 'at_most' or 'at_least'")


def _unit(target, problem):
    if "of" in target:
        return "×"
    name = target.get("figure", "value")
    return problem.get("unit", "s") if name == "value" else UNITS.get(name, "")


def _shown(value, unit):
    return wording.ratio(value) if unit == "×" else wording.quantity(value, unit)


def describe(target, title, problem):
    """The target as a line."""
    size = f"({target['size']:,})" if "size" in target else ""
    name = target.get("figure", "value")
    limit = "≤" if "at_most" in target else "≥"
    amount = _shown(target.get("at_most", target.get("at_least")), _unit(target, problem))
    text = f"{title}{size}, {target['contender']}, {wording.workers(target['workers'])}"
    text += f": {'' if name == 'value' else name + ' '}{limit} {amount}"
    if "of" in target:
        text += " " + target["of"]
        others = _workers_of_reference(target)
        if not target["of"].startswith("serial/") and others != target["workers"]:
            text += f" with {wording.workers(others)}"
    return text


def _workers_of_reference(target):
    """The serial program runs in every group; other references have one worker by default."""
    if target["of"].startswith("serial/"):
        return target["workers"]
    return target.get("of_workers", 1)


def _figure(summary, name):
    if name == "value":
        return summary.median
    if name == "growth_mib":
        return summary.growth_mib
    return summary.figures.get(name)


class _Missing(Exception):
    """No figure: it was not requested."""


class _Failed(Exception):
    """No figure: the contender failed."""


def _lookup(run, place, pattern, name, lowest):
    """The figure of a contender; for a pattern such as quern/* the best one. Throws if there is none."""
    problem, size, workers = place
    of_problem = [g for g in run.data["groups"] if g["problem"] == problem]
    of_size = [g for g in of_problem if size in (None, g["size"])]
    groups = [g for g in of_size if g["workers"] == workers]
    if not groups:
        raise _Missing("not run" if not of_problem else f"size {size:,} was not run" if not of_size else
                       f"not run with {wording.workers(workers)}")
    group = max(groups, key=lambda g: g["size"])
    found = [figures.summarise(r) for r in group["results"] if fnmatch.fnmatchcase(r["contender"], pattern)]
    values = [v for v in (_figure(s, name) for s in found) if v is not None]
    if values:
        return (min if lowest else max)(values)
    for summary in found:
        if summary.failure:
            raise _Failed(summary.failure)
    raise _Missing(f"{pattern} has no figure '{name}'" if found else f"{pattern} was not run")


def outcome(target, title, problem, run):
    """The Outcome of one target in one run."""
    name, size, lowest = target.get("figure", "value"), target.get("size"), "at_most" in target
    try:
        value = _lookup(run, (title, size, target["workers"]), target["contender"], name, lowest)
    except _Failed as failure:
        return Outcome(MISSED, str(failure))
    except _Missing as reason:
        return Outcome(UNKNOWN, str(reason))
    if "of" in target:
        try:
            one = _lookup(run, (title, size, _workers_of_reference(target)), target["of"], name, lowest)
        except (_Failed, _Missing) as reason:
            return Outcome(UNKNOWN, f"{target['of']}: {reason}")
        if one <= 0:
            return Outcome(UNKNOWN, f"{target['of']} is {one:g}")
        value /= one
    reached = value <= target["at_most"] if lowest else value >= target["at_least"]
    return Outcome(REACHED if reached else MISSED, _shown(value, _unit(target, problem)))


def evaluate(problems, runs):
    """Every target of problems.toml, in its order."""
    check(problems)
    return [Target(title, describe(target, title, problem), [outcome(target, title, problem, run) for run in runs])
            for title, problem in problems.items() for target in problem.get("target", [])]


def tally(rows, index):
    """How many of a run's measured targets are reached."""
    states = [row.outcomes[index].state for row in rows]
    text = f"{states.count(REACHED)} of {len(states)} targets reached"
    return text + (f", {states.count(UNKNOWN)} not measured" if UNKNOWN in states else "")
