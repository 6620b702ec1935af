# SPDX-License-Identifier: BSL-1.0
"""The lines of bench/many: a head that says what ran where, a line for each contender as soon as its row is done, and an end
with what was not run. `bench/many compare` prints the same from the file.

    print(*head(result), sep="\\n"); print(*lines(group), sep="\\n")
"""

import json
import statistics

import figures
import wording
from kit import mistakes
from many import race, rows

BUSY = 0.5  # load, in cores, above which other programs disturb the figures
COLUMNS = "{:18} {:>3}  {:24} {:>20} {:>20}  {:22} {:>6}  {}"


def head(result):
    """The conditions of a run."""
    here, found = result["machine"], []
    found.append(f"machine: {here['cpus']} cores, {here['cpu']}, {here['memory_gib']} GiB, {here['system']}, "
                 f"glibc {here['glibc']}, Python {here['python']}, load {here['load']:.2f}")
    found += result["bundles"]
    if here["load"] > BUSY:
        found.append(f"the load is {here['load']:.2f} at the start, more than {BUSY}: other programs disturb the figures")
    found += result["warnings"]
    found.append("median (least) of the rounds; B : A is the median of the rounds' ratios with the least and the most, below 1: B is "
                 "better; won: rounds that B won; best peer: how many times Quern takes, A and B")
    found.append(COLUMNS.format("row", "on", "contender", "A", "B", "B : A", "won", "best peer").rstrip())
    return found


def lines(group):
    """The lines of one row with one number of workers."""
    higher, unit, found = group["higher_is_better"], group["unit"], []
    summaries = {r["contender"]: figures.summarise(r, higher) for r in group["results"]}
    known = [(s.median, label) for label, s in summaries.items() if figures.is_peer(label) and s.median is not None]
    theirs, peer = (max(known) if higher else min(known)) if known else (None, None)
    for label, a, b in race.pairs(group):
        mine = [summaries.get(name) for name in (label, label + " [B]")]
        ratio = race.ratios(a, b, higher)
        to_peer = [wording.ratio(figures.worse(s.median, theirs, higher)) for s in mine if s and s.median is not None and peer]
        found.append([label, _figure(mine[0], unit), _figure(mine[1], unit) if b else "", _ratio(ratio),
                      f"{sum(r < 1 for r in ratio)}/{len(ratio)}" if ratio else "",
                      f"{' '.join(to_peer)} {peer}" if to_peer else _reasons(mine)])
    for result in group["results"]:
        if result["side"] == "peer":
            one = summaries[result["contender"]]
            found.append([result["contender"], _figure(one, unit), "", "", "", one.failure or ""])
    return [COLUMNS.format(group["row"] if i == 0 else "", group["workers"] if i == 0 else "", *line).rstrip()
            for i, line in enumerate(found)]


def _figure(summary, unit):
    if summary is None or summary.failure:
        return "failed" if summary else wording.NONE
    if summary.median is None:
        return wording.NONE
    return f"{wording.quantity(summary.median, unit)} ({wording.quantity(summary.best, unit)})"


def _reasons(summaries):
    said = [f"{side}: {s.failure}" for side, s in zip("AB", summaries) if s and s.failure]
    return "; ".join(said)


def _ratio(ratios):
    if not ratios:
        return ""
    return f"{wording.ratio(statistics.median(ratios))} ({wording.number(min(ratios))} to {wording.number(max(ratios))})"


def tail(result):
    """What was not run, and why; and how long it took."""
    found = []
    for reason in dict.fromkeys(reason for _, _, reason in result["not_run"]):
        counts = {}
        for row, workers, why in result["not_run"]:
            if why == reason:
                counts.setdefault(workers, []).append(row)
        found.append(f"not run, {reason}:")
        found += [f"    {wording.workers(workers)}: {', '.join(names)}" for workers, names in counts.items()]
    failed = [f"{g['row']} {r['contender']}" for g in result["groups"] for r in g["results"]
              if r["failure"] not in (None, race.OVER) and r["side"] != "peer"]
    if failed:
        found.append(f"Quern failed: {', '.join(dict.fromkeys(failed))}")
    found.append(f"{len(result['groups'])} steps in {result['seconds']:.0f} s")
    return found


def read(path):
    """A result file of bench/many run."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        if not isinstance(result, dict) or not all(key in result for key in ("bundles", "groups", "not_run", "machine")):
            raise ValueError("no result")
    except (OSError, ValueError) as error:
        raise mistakes.Mistake(f"{path}: {getattr(error, 'strerror', None) or 'is no result of bench/many run'}") from error
    return result


def whole(result, names=None):
    """All lines of a result, row by row with growing numbers of workers."""
    order = {row.name: index for index, row in enumerate(rows.ROWS)}
    found = head(result)
    for group in sorted(result["groups"], key=lambda g: (order.get(g["row"], len(order)), g["workers"])):
        if names is None or group["row"] in names:
            found += lines(group)
    return found + tail(result)
