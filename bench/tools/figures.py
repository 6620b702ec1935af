# SPDX-License-Identifier: BSL-1.0
"""Computes the figures of a report from result files: a section for each problem and size, in it a cell for each contender and
number of workers. Independent of how figures are shown.

    runs = load(["results.json", "sherwood.json"]); sections = gather(runs, problems)
"""

import json
import os
import statistics
from dataclasses import dataclass, field

from kit import medians

OF_EVERY_REPETITION = {"value", "runs", "wall", "cpu", "growth_kib"}  # all other keys are measured by a single problem
ONE_OF_ITS_KIND = {"serial", "quern", "quern-preload-gcc", "quern-preload-clang"}  # every other runtime is a peer


class Unreadable(Exception):
    """A file that is not a result; the text says which and why."""


@dataclass
class Run:
    """A result file. `tag` distinguishes its Quern contenders from those of other files in the same report; empty for the
    first."""
    path: str
    data: dict
    tag: str = ""


@dataclass
class Summary:
    """The repetitions of one contender; `median` is None when there are none or it failed."""
    median: float = None
    least: float = None
    most: float = None
    spread: float = None      # interquartile range / median
    count: int = 0
    growth_mib: float = None  # the most of any repetition, the first included
    failure: str = None
    best: float = None        # least, or most where more is better
    figures: dict = field(default_factory=dict)  # medians of all other measurements, by name


@dataclass
class Cell:
    """A contender with one number of workers."""
    summary: Summary
    to_serial: float = None  # time over that of the serial program: below 1 is better
    to_peer: float = None    # the same for the best peer


@dataclass
class Duel:
    """The best Quern contender and the best peer of one run, problem, size and number of workers."""
    quern: str = None
    peer: str = None
    ratio: float = None  # below 1: Quern is better
    word: str = ""       # why there is no ratio


@dataclass
class Section:
    """All measurements of a problem of one size."""
    problem: str
    size: int
    about: str = ""
    unit: str = "s"
    higher_is_better: bool = False
    workers: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    cells: dict = field(default_factory=dict)   # (label, workers) -> Cell
    duels: dict = field(default_factory=dict)   # (tag, workers) -> Duel
    notes: list = field(default_factory=list)   # (tag, workers, steal in per cent, load)

    @property
    def title(self):
        return f"{self.problem} ({self.size:,})"

    @property
    def anchor(self):
        return f"{self.problem}-{self.size}"


def load(paths):
    """The runs of result files, tagged by policy if there are several."""
    runs = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            assert isinstance(data["groups"], list)
        except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
            reason = getattr(error, "strerror", None) or "is no result of bench/run"
            raise Unreadable(f"{path}: {reason}") from error
        runs.append(Run(path, data))
    taken = set()
    for run in runs:
        tag = run.data.get("policy", "default")
        tag = "" if tag == "default" or len(runs) == 1 else tag
        if tag in taken:
            name = os.path.splitext(os.path.basename(run.path))[0]
            tag = f"{tag}, {name}" if tag else name
        while tag in taken:
            tag += "'"
        taken.add(tag)
        run.tag = tag
    return runs


def summarise(result, higher_is_better=False):
    """The Summary of one contender of a result file."""
    repetitions = result["repetitions"]
    everything = repetitions + [r for r in [result.get("warm_up")] if r]
    summary = Summary(failure=result.get("failure"), count=len(repetitions))
    growth = [r["growth_kib"] / 1024 for r in everything if "growth_kib" in r]
    if growth and not summary.failure:
        summary.growth_mib = max(growth)
    if not repetitions or summary.failure:
        return summary
    values = [r["value"] for r in repetitions]
    known = medians.summarize(values)
    summary.median, summary.least, summary.most = known.median, known.least, known.most
    summary.best = summary.most if higher_is_better else summary.least
    summary.spread = medians.interquartile_spread(values)
    for name in ("cpu", "wall"):
        known = [r[name] for r in repetitions if name in r]
        summary.figures[name] = statistics.median(known) if known else None
    for name in {name: None for r in repetitions for name in r if name not in OF_EVERY_REPETITION}:
        summary.figures[name] = statistics.median(r[name] for r in repetitions if name in r)
    return summary


def worse(ours, theirs, higher_is_better):
    """How many times worse ours is; None if undefined."""
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return None
    return theirs / ours if higher_is_better else ours / theirs


def runtime_of(label):
    return label.split("/")[0]


def is_peer(label):
    return runtime_of(label) not in ONE_OF_ITS_KIND


def _best(summaries, wanted, higher):
    """(label, median) of the best contender that has a median."""
    known = [(s.median, label) for label, s in summaries.items() if wanted(label) and s.median is not None]
    if not known:
        return None, None
    value, label = max(known) if higher else min(known)
    return label, value


def _duel(summaries, theirs, peer, higher):
    quern, ours = _best(summaries, lambda label: runtime_of(label) == "quern", higher)
    duel = Duel(quern, peer, worse(ours, theirs, higher))
    if duel.ratio is None:
        tried = [s for label, s in summaries.items() if runtime_of(label) == "quern"]
        failures = [s.failure for s in tried if s.failure]
        duel.word = (failures[0] if failures else "not measured") if quern is None else \
            "no peer" if peer is None else "no ratio"
    return duel


def _references(groups, higher):
    """(serial median, best peer, its median), each from the first group that has it."""
    serial = peer = theirs = None
    for summaries in groups:
        serial = serial or _best(summaries, lambda label: runtime_of(label) == "serial", higher)[1]
        if peer is None:
            peer, theirs = _best(summaries, is_peer, higher)
    return serial, peer, theirs


def _add_group(section, run, group, groups):
    """The cells of one group. `groups`: its summaries first, then those of the same group of the other runs."""
    workers, higher = group["workers"], section.higher_is_better
    serial, peer, theirs = _references(groups, higher)
    for label, summary in groups[0].items():
        if run.tag and runtime_of(label) == "quern":
            label = f"{label} [{run.tag}]"
        if (label, workers) in section.cells:
            continue  # a peer or the serial program again: the first run's figure is shown
        if label not in section.labels:
            section.labels.append(label)
        section.cells[label, workers] = Cell(summary, worse(summary.median, serial, higher),
                                             worse(summary.median, theirs, higher))
    section.duels[run.tag, workers] = _duel(groups[0], theirs, peer, higher)
    section.notes.append((run.tag, workers, group.get("steal_percent"), group.get("load")))
    if workers not in section.workers:
        section.workers.append(workers)


def _rank(label):
    """Serial first, then Quern, then the peers in their order of appearance."""
    return {"serial": 0, "quern": 1}.get(runtime_of(label), 2)


def gather(runs, problems):
    """The sections, in the order of problems.toml, then problems that are not in it. A ratio compares contenders of the same
    turns; if that run had no peer or no serial program, it uses the first run that has one."""
    groups = {}  # (problem, size) -> {workers: [(run, group, summaries)]}
    for run in runs:
        for group in run.data["groups"]:
            higher = problems.get(group["problem"], {}).get("higher_is_better", False)
            summaries = {r["contender"]: summarise(r, higher) for r in group["results"]}
            by_workers = groups.setdefault((group["problem"], group["size"]), {})
            by_workers.setdefault(group["workers"], []).append((run, group, summaries))
    order = list(problems)
    sections = []
    for problem, size in sorted(groups, key=lambda k: (order.index(k[0]) if k[0] in order else len(order), k[1])):
        known = problems.get(problem, {})
        section = Section(problem, size, known.get("about", ""), known.get("unit", "s"),
                          known.get("higher_is_better", False))
        for workers, entries in sorted(groups[problem, size].items()):
            for run, group, summaries in entries:
                _add_group(section, run, group, [summaries] + [e[2] for e in entries])
        section.labels.sort(key=_rank)
        sections.append(section)
    return sections
