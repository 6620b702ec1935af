#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Records jobs of several ranks, joins their traces by `quern trace merge`, and reads the result with a decoder of its own:
there must be an arrow for each message and each parcel, from a sending to a receipt, and not before it. How many there are,
the counters say.

Usage: merge.py <quern> <program>... where a program is <name>=<path>: `cases` of cases.cpp, or an application"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT_S = 200  # a busy machine needs it
# Ranks, and the words of the program.
JOBS = {"cases": [(2, ["merge"])],
        "ring": [(2, ["--n", "200", "--tile", "50", "--variant", "tasks-renamed", "--repeat", "1"])],
        "hpl": [(4, ["--n", "1000", "--tile", "64", "--grid", "2x2", "--variant", "tasks", "--repeat", "1"])],
        "heat": [(2, ["--n", "200", "--steps", "30", "--repeat", "1"])],
        "drift": [(3, ["--cells", "24", "--particles", "1500", "--steps", "30", "--every", "5", "--repeat", "1"])]}
WITH_PARCELS = ("heat", "drift")  # of the layer localities
MESSAGE_FLOW = 1 << 61
SEND, RECEIVE = 47, 48  # fields of an event: flows that begin or pass, flows that end


def fields(data):
    """(number, value) of a message of protobuf's wire format; the value is a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 2: None, 5: 4}[kind]
        size = varint() if size is None else size
        value = data[at:at + size]
        assert len(value) == size, "truncated"
        at += size
        yield key >> 3, int.from_bytes(value, "little") if kind == 1 else value


class Trace:
    """What a merged trace says of processes and messages."""

    def __init__(self, path):
        self.processes, self.parents, self.arrows, self.instants = {}, {}, collections.defaultdict(dict), []
        self.clocks = 0
        for number, packet in fields(path.read_bytes()):
            assert number == 1
            packet = list(fields(packet))
            by_number = dict(packet)
            for key, value in packet:
                if key == 60:
                    self.take_track(dict(fields(value)))
                elif key == 11:
                    self.take_event(list(fields(value)), by_number[8])

    def take_track(self, track):
        if 3 in track:
            self.processes[track[1]] = dict(fields(track[3]))[6].decode()
        self.parents[track[1]] = track.get(5, track[1])

    def take_event(self, event, at):
        values = dict(event)
        name = values.get(23, b"").decode(errors="replace")
        self.clocks += name == "clock of rank 0"
        flows = [(key, value) for key, value in event if key in (SEND, RECEIVE) and value >> 61 == 1]
        if name.startswith(("send to", "receive from")):
            assert len(flows) <= 1
            self.instants.append((name, bool(flows)))
        else:
            assert not flows, f"an arrow at {name}"
        for key, value in flows:
            assert key not in self.arrows[value], "an arrow with two beginnings or ends"
            assert name.startswith("send to" if key == SEND else "receive from")
            peer = int(name.rsplit(" ", 1)[1])
            self.arrows[value][key] = (at, self.rank_of(values[11]), peer)

    def rank_of(self, track):
        return int(re.match(r"rank (\d+): ", self.processes[self.parents[track]])[1])


def check_job(quern, program, layers, ranks, words):
    counters = [f"/{layer}/count/{what}" for layer in layers for what in ("sent", "received")]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        run = subprocess.run([quern, "run", "-n", str(ranks), "--trace", "run.%r.pftrace", "--threads", "1",
                              "--counters", ";".join(counters), "--destination", "counters.%r.txt", "--format", "csv",
                              "--", program, *words], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert run.returncode == 0, run
        traces = sorted(each.name for each in folder.glob("run.*.pftrace"))
        merge = subprocess.run([quern, "trace", "merge", *traces, "-o", "job.pftrace", "--html", "job.html"], cwd=folder,
                               capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert merge.returncode == 0, merge
        print(merge.stdout)
        said = re.search(r"(?m)^([\d,]+) messages? sent, ([\d,]+) received, ([\d,]+) arrows?$", merge.stdout)
        sent, received, arrows = (int(each.replace(",", "")) for each in said.groups())
        counted = [counted_by(folder / f"counters.{rank}.txt") for rank in range(ranks)]
        assert sent == sum(each["sent"] for each in counted), (sent, counted)
        assert received == sum(each["received"] for each in counted), (received, counted)
        assert sent == received == arrows > 0 and "unmatched" not in merge.stdout, merge.stdout
        trace = Trace(folder / "job.pftrace")
        assert len(trace.processes) == ranks, trace.processes
        assert trace.clocks >= 2 * ranks, f"{trace.clocks} readings of clocks"
        assert len(trace.arrows) == arrows and len(trace.instants) == 2 * arrows, (len(trace.arrows), len(trace.instants), arrows)
        for ends in trace.arrows.values():
            (begin, sender, to), (end, receiver, source) = ends[SEND], ends[RECEIVE]
            assert begin < end and sender == source and receiver == to, ends
        page = (folder / "job.html").read_text(encoding="utf-8")
        assert page.count("<svg") >= 1 and "marker-end" in page and page.endswith("</html>\n")
        return arrows


def counted_by(path):
    """The counters that a rank has printed, at the end of each runtime since its beginning."""
    values = collections.defaultdict(int)
    for line in path.read_text().splitlines():
        parts = line.split(",")  # name, number, time, [s], value, [unit]
        if parts[0].startswith(("/mpi", "/parcels")):
            name = parts[0].rpartition("/")[2]
            values[name] += int(float(parts[4]))
    return values


def main():
    quern, *programs = sys.argv[1:]
    quern = os.path.abspath(quern)
    for each in programs:
        name, _, path = each.partition("=")
        path = os.path.abspath(path)
        for ranks, words in JOBS[name]:
            layers = ("mpi", "parcels") if name in WITH_PARCELS else ("mpi",)
            arrows = check_job(quern, path, layers, ranks, words)
            print(f"{name} on {ranks} ranks: {arrows} arrows, as many as messages", flush=True)


main()
