# SPDX-License-Identifier: BSL-1.0
"""The run of bench/many: for each row and number of workers, bundle A, bundle B and the peers work in turns, every other round in
reverse order, until the row has its rounds or its share of the time. The whole run, after archives have been
unpacked and programs have said what they offer, never takes more than its limit.

    race = Race(bundles, peers_folder, rows, workers, limit, repetitions, stop); race.run(print_step)
"""

import os
import time

import choosing
import contest
import figures
import machine
import wording
from kit import interruption, mistakes
from many import peers, rows

SHARES = 2          # a step may take twice its equal share of what is left: short ones leave enough
LEAST_SHARE = 1.0   # seconds
LEAST_LEFT = 1.0    # seconds: with less left, no step begins
LONG_TURN = 1.0     # seconds: a warm-up as long counts as a round, for its beginning is a small part of it
SLOWER = 20         # a peer whose turn takes this many times the longest turn of a bundle is ended …
LEAST_LIMIT = 1.0   # … but never before this many seconds
RUNTIMES = ("serial", "tbb", "libgomp", "libomp", "openblas", "async")  # the peers in a bundle, beside Quern
OVER = "not ended when the time of the run was over"


class Entry:
    """A contender of a step: `side` is "A", "B", or "peer"."""

    def __init__(self, side, contender):
        self.side, self.contender, self.spent, self.over = side, contender, 0.0, False

    def turn(self, counts, deadline, limit):
        """One turn, within `limit` seconds and before the deadline of the run. Returns whether it was done."""
        left = deadline - time.monotonic()
        if left <= 0 or self.over:
            return False
        self.contender.limit = min(limit, left)
        start, failed = time.monotonic(), self.contender.failure is not None
        self.contender.turn(counts)
        self.spent = time.monotonic() - start
        if not failed and self.contender.failure and self.spent >= left:
            # What it has measured until then counts.
            self.contender.failure, self.over = None if self.contender.repetitions else OVER, True
        return not failed

    def begins_long(self):
        """Whether its warm-up was a long one. The seconds of a repetition, without the start of the process."""
        first = self.contender.warm_up
        return first is not None and first["wall"] >= LONG_TURN

    def result(self, warm_up_counts):
        """In the form of bench/run; the contenders of B have a label of their own."""
        made = self.contender.result() | {"side": self.side}
        if self.side == "B":
            made["contender"] += " [B]"
        if warm_up_counts and not made["failure"]:
            made["repetitions"] = [made["warm_up"], *made["repetitions"]]
        return made


class Race:
    """`groups` and `not_run` hold what was measured, and [row, workers, reason] of what was not."""

    def __init__(self, bundles, peers_folder, chosen_rows, workers, limit, repetitions, stop):
        self.bundles, self.limit, self.repetitions = bundles, limit, repetitions
        self.groups, self.not_run = [], []
        self._stop = stop
        self._steps = rows.in_order_of_importance(chosen_rows, workers)
        self._problems = bundles[0].head["problems"]
        self._offered = [choosing.offered(b.folder, _packed(b, i), b.environment()) for i, b in enumerate(bundles)]
        self._peers_folder = peers_folder
        self._peers = peers.offered(peers_folder) if peers_folder else {}
        self._commands = peers.read(peers_folder) if peers_folder else {}
        self._refuse_peers_of_no_use(peers_folder, chosen_rows)

    def run(self, on_step):
        """Measures until the end, the limit or a signal; on_step(group) after each step."""
        deadline = time.monotonic() + self.limit
        for index, (row, workers) in enumerate(self._steps):
            left = deadline - time.monotonic()
            entries = self._entries(row, workers)
            if self._stop.name is not None:
                self.not_run.append([row.name, workers, f"stopped by {self._stop.name}"])
            elif not any(entry.side != "peer" for entry in entries):
                self.not_run.append([row.name, workers, "no program for it"])
            elif left < LEAST_LEFT:
                self.not_run.append([row.name, workers, "the time of the run was over"])
            else:
                share = max(LEAST_SHARE, SHARES * left / (len(self._steps) - index))
                self.groups.append(self._play(row, workers, entries, share, deadline))
                on_step(self.groups[-1])

    def _refuse_peers_of_no_use(self, folder, chosen_rows):
        if folder and not self._peers and not self._commands:
            raise mistakes.Mistake(f"--peers {folder}: it has neither programs bench-<runtime> that start nor a {peers.FILE}")
        described = {name for entries in self._commands.values() for name in entries}
        for row in chosen_rows:
            if row.name in described and self.unit(row.problem) not in wording.SECONDS:
                raise mistakes.Mistake(f"--peers {folder}: the row {row.name} is no time, which {peers.FILE} describes; "
                                       "accepted: a program bench-<runtime>")

    def _entries(self, row, workers):
        """The contenders of a step, none started: those of A and B side by side, then the peers."""
        sides = [self._of_bundle(row, workers, bundle, found) for bundle, found in zip(self.bundles, self._offered)]
        labels = list(dict.fromkeys(label for side in sides for label in side))
        entries = [Entry(side[label][0], side[label][1]) for label in labels for side in sides if label in side]
        entries.sort(key=lambda entry: entry.side == "peer")
        return entries + self._of_folder(row, workers)

    def _of_bundle(self, row, workers, bundle, offered):
        """{label: (side, contender)} of one bundle."""
        found = {}
        for program, runtime, variant in offered.get(row.problem, []):
            label = f"{runtime}/{variant}"
            if row.wants(label):
                side = bundle.side if runtime == "quern" else "peer"
                found[label] = side, self._contender(row, workers, program, runtime, variant, bundle.environment())
        entry = rows.APPLICATIONS.get(row.name)
        if entry and entry["command"].split()[0] in bundle.head["programs"]:
            label = f"quern/{entry['variant']}"
            found[label] = bundle.side, peers.Command(bundle.folder, entry, workers, row.size_for(workers), label, "s", row.limit,
                                                      bundle.environment(), self._stop)
        return found

    def _of_folder(self, row, workers):
        """Entries of the user's folder of peers."""
        variables = peers.environment(self._peers_folder) if self._peers_folder else {}
        found = [Entry("peer", self._contender(row, workers, *each, variables)) for each in self._peers.get(row.problem, [])]
        for runtime, entries in self._commands.items():
            if row.name in entries:
                entry = entries[row.name]
                found.append(Entry("peer", peers.Command(
                    self._peers_folder, entry, workers, row.size_for(workers), f"{runtime}/{entry.get('variant', 'command')}",
                    self.unit(row.problem), row.limit, variables, self._stop)))
        return found

    def _contender(self, row, workers, program, runtime, variant, variables):
        return contest.Contender(program, row.problem, variant, 1 if runtime == "serial" else workers, row.size_for(workers),
                                 f"{runtime}/{variant}", limit=row.limit, stop=self._stop,
                                 environment={**variables, **self._problems.get(row.problem, {}).get("environment", {})})

    def _play(self, row, workers, entries, share, deadline):
        before, start = machine.cpu_ticks(), time.monotonic()
        fresh = self._problems.get(row.problem, {}).get("fresh", False)
        try:
            self._rounds(row, entries, start + share, deadline, fresh)
        except interruption.Stopped:
            pass
        finally:
            for entry in entries:
                entry.contender.end()
        return {"row": row.name, "problem": row.problem, "size": row.size_for(workers), "workers": workers,
                "unit": self.unit(row.problem), "higher_is_better": self._problems.get(row.problem, {}).get("higher_is_better", False),
                "complete": self._stop.name is None and not any(entry.over for entry in entries),
                "steal_percent": machine.stolen_since(before), "load": os.getloadavg()[0],
                "seconds": round(time.monotonic() - start, 1), "results": [entry.result(self._warm_up_counts(entry, entries)) for entry in entries]}

    @staticmethod
    def _warm_up_counts(entry, entries):
        """All of Quern's contenders have it counted or none, so that their rounds remain pairs."""
        asked = [entry] if entry.side == "peer" else [e for e in entries if e.side != "peer" and not e.contender.failure]
        return all(e.begins_long() for e in asked)

    def unit(self, problem):
        return self._problems.get(problem, {}).get("unit", "s")

    def _rounds(self, row, entries, end, deadline, fresh):
        """A warm-up, at least one round that counts, and further ones until `end`. Peers may take half of the share."""
        longest, of_peers, start = 0.0, 0.0, time.monotonic()
        for turn in range(self.repetitions + 1):
            long = all(entry.begins_long() or entry.contender.failure for entry in entries if entry.side != "peer")
            now = time.monotonic()
            if now >= deadline or (turn > 0 and long and now >= end) or (turn > 1 and now >= end):
                return
            for entry in reversed(entries) if turn % 2 else entries:
                is_peer = entry.side == "peer"
                if is_peer and turn > 1 and of_peers > (end - start) / 2:
                    continue
                limit = min(row.limit, max(LEAST_LIMIT, SLOWER * longest)) if is_peer and longest > 0 else row.limit
                entry.turn(turn > 0, deadline, limit)
                if fresh:
                    entry.contender.end()
                if is_peer:
                    of_peers += entry.spent
                else:
                    longest = max(longest, entry.spent)


def _packed(bundle, index):
    """The runtimes of a bundle that run: of the second one only Quern."""
    names = [program.rsplit("bench-", 1)[1] for program in bundle.head["programs"] if "bench-" in program]
    return [name for name in names if name == "quern" or (index == 0 and name in RUNTIMES)]


def pairs(group):
    """[(label, result of A or None, result of B or None)] of Quern's contenders, in their order."""
    found = {}
    for result in group["results"]:
        if result["side"] in ("A", "B"):
            found.setdefault(result["contender"].removesuffix(" [B]"), {})[result["side"]] = result
    return [(label, sides.get("A"), sides.get("B")) for label, sides in found.items()]


def ratios(a, b, higher_is_better):
    """B to A in each round, below 1: B is better."""
    if not a or not b or a["failure"] or b["failure"]:
        return []
    found = [figures.worse(y["value"], x["value"], higher_is_better) for x, y in zip(a["repetitions"], b["repetitions"])]
    return [ratio for ratio in found if ratio is not None]
