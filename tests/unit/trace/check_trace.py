#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Decodes traces with Perfetto's own descriptors and checks that they show what the program did.

    check_trace.py [--packages DIR] PROGRAM

PROGRAM is the test program test_traced_program. The descriptors are those of the package `perfetto`; if it is not installed it
is fetched into DIR; if that fails too the test is skipped with exit status 77.
"""

import argparse
import collections
import importlib
import os
import subprocess
import sys
import tempfile

PACKAGES = ["perfetto==0.59.1", "protobuf>=5"]
SKIP = 77


def load_descriptors(folder):
    """Returns the module with the messages, or None with the reason printed."""
    os.makedirs(folder, exist_ok=True)
    sys.path.insert(0, folder)
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
        return perfetto_trace_pb2
    except ImportError:
        pass
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
               "--timeout", "10", "--target", folder, *PACKAGES]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        importlib.invalidate_caches()
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
        return perfetto_trace_pb2
    except (OSError, subprocess.SubprocessError, ImportError) as error:
        print(f"skipped: no descriptors of Perfetto: {error}")
        return None


def unknown_fields(message):
    """Fields that the descriptors do not know: probably a wrong field number."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    return len(UnknownFieldSet(message))


Slice = collections.namedtuple("Slice", "track name begin end depth flows last_flows arguments place")


class Trace:
    """The packets of a file, joined by the rules of the format."""

    def __init__(self, proto, path):
        with open(path, "rb") as file:
            self.trace = proto.Trace.FromString(file.read())
        self.event = proto.TrackEvent
        self.tracks, self.slices, self.instants, self.counters, self.dropped = {}, [], [], {}, []
        self.names = collections.defaultdict(lambda: collections.defaultdict(dict))
        open_slices = collections.defaultdict(list)
        for packet in self.trace.packet:
            sequence = packet.trusted_packet_sequence_id
            assert sequence != 0
            assert not unknown_fields(packet) and not unknown_fields(packet.track_event)
            if packet.sequence_flags & 1:
                self.names[sequence].clear()
            self.learn(packet.interned_data, self.names[sequence])
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.previous_packet_dropped:
                self.dropped.append(sequence)
            if packet.HasField("track_event"):
                self.take(packet, open_slices, self.names[sequence])
        left = {track: len(stack) for track, stack in open_slices.items() if stack}
        assert not left, f"slices that never end: {left}"

    @staticmethod
    def learn(data, names):
        for kind in ("event_names", "event_categories", "debug_annotation_names"):
            for entry in getattr(data, kind):
                names[kind][entry.iid] = entry.name
        for entry in data.source_locations:
            names["source_locations"][entry.iid] = f"{entry.file_name}:{entry.line_number}"

    def take(self, packet, open_slices, names):
        event, at = packet.track_event, packet.timestamp
        assert event.track_uuid in self.tracks, "an event on a track that nobody has described"
        stack = open_slices[event.track_uuid]
        if event.type == self.event.TYPE_SLICE_BEGIN:
            arguments = {names["debug_annotation_names"][a.name_iid]: a.uint_value for a in event.debug_annotations}
            assert all(iid in names["event_categories"] for iid in event.category_iids)
            if stack:
                assert at >= stack[-1].begin
            place = names["source_locations"][event.source_location_iid] if event.source_location_iid else ""
            stack.append(Slice(event.track_uuid, names["event_names"][event.name_iid], at, None, len(stack),
                               list(event.flow_ids), list(event.terminating_flow_ids), arguments, place))
        elif event.type == self.event.TYPE_SLICE_END:
            begun = stack.pop()
            assert at >= begun.begin, f"{begun.name} ends before it begins"
            self.slices.append(begun._replace(end=at))
        elif event.type == self.event.TYPE_INSTANT:
            name = event.name or names["event_names"][event.name_iid]
            self.instants.append((at, event.track_uuid, name))
        elif event.type == self.event.TYPE_COUNTER:
            name = self.tracks[event.track_uuid].name
            self.counters.setdefault(name, []).append((at, event.double_counter_value))
        else:
            raise AssertionError(f"event type {event.type}")

    def named(self, name):
        return [s for s in self.slices if s.name == name]

    def check_nesting(self):
        """Slices of a track are nested or do not overlap."""
        by_track = collections.defaultdict(list)
        for each in self.slices:
            by_track[each.track, each.depth].append(each)
        for row in by_track.values():
            row.sort(key=lambda s: (s.begin, s.end))
            for before, after in zip(row, row[1:]):
                assert before.end <= after.begin, f"overlap: {before} {after}"


def record(program, workers, path, *arguments, small=100):
    environment = dict(os.environ, QUERN_THREADS=str(workers), QUERN_TRACE=path)
    subprocess.run([*program, *arguments, str(small)], env=environment, check=True, timeout=60)


def check_workers(trace, workers):
    threads = [t for t in trace.tracks.values() if t.HasField("thread")]
    assert len(threads) == workers
    assert len({t.thread.tid for t in threads}) == workers and all(t.thread.tid > 0 for t in threads)
    assert {t.thread.thread_name for t in threads} == {f"default/{rank}" for rank in range(workers)}
    assert all(t.parent_uuid in trace.tracks for t in threads)


def check_tasks(trace, small):
    """Each kind of task occurs as often as it was made, with the place where it was made."""
    tasks = collections.Counter()
    for name in ("main task", "child", "grandchild", "small", 'inlined "one"'):
        tasks[name] = len({s.arguments["task"] for s in trace.named(name)})
        assert all(s.place.startswith("traced_program.cpp:") for s in trace.named(name)), (name, {s.place for s in trace.named(name)})
    assert tasks == {"main task": 1, "child": 4, "grandchild": 40, "small": small, 'inlined "one"': 1}, tasks


def check_flows(trace):
    """The pieces of a task share a flow; the task's maker is connected with its first piece."""
    pieces = collections.defaultdict(list)
    for each in trace.slices:
        if "task" in each.arguments:
            pieces[each.arguments["task"]].append(each)
    several = [group for group in pieces.values() if len(group) > 1]
    assert several
    for group in several:
        shared = set(group[0].flows)
        for each in group:
            shared &= set(each.flows)
        assert len(shared) == 1, "pieces of a task share one flow"
    for each in trace.slices:
        for flow in each.last_flows:
            makers = [s for s in trace.slices if flow in s.flows]
            assert len(makers) == 1 and makers[0].begin <= each.begin, f"who made {each}?"
    assert any(s.last_flows for s in trace.slices), "no task is connected with its maker"


def check_extras(trace):
    assert trace.counters["small tasks"] and len(trace.counters["resident memory"]) >= 1
    assert max(value for _, value in trace.counters["resident memory"]) > 1e5
    assert max(value for _, value in trace.counters["/runtime{locality#0/total}/memory/resident"]) > 1e5
    loads = trace.counters.get("/threads{locality#0/worker-thread#0}/idle-rate", [])
    assert all(0 <= value <= 101 for _, value in loads), "in %, of two looks at workers that go on"
    words = [name for _, _, name in trace.instants]
    assert "program: children have ended" in words and "test: ends" in words, words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", default=os.path.join(tempfile.gettempdir(), "quern-perfetto-descriptors"))
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    proto = load_descriptors(options.packages)
    if proto is None:
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2, 8):
            path = os.path.join(folder, f"{workers}.pftrace")
            record(options.program, workers, path, "--quern:trace-counters=/threads{*}/idle-rate;/runtime/memory/resident")
            trace = Trace(proto, path)
            check_workers(trace, workers)
            trace.check_nesting()
            check_tasks(trace, 100)
            check_flows(trace)
            check_extras(trace)
            assert not trace.dropped
            print(f"{workers} workers: {len(trace.slices)} slices, {len(trace.trace.packet)} packets")
        path = os.path.join(folder, "small-ring.pftrace")
        record(options.program, 2, path, "--quern:trace-events=1000", small=1_000_000)
        trace = Trace(proto, path)
        trace.check_nesting()
        assert trace.dropped, "a full ring that says nothing"
        assert any("events dropped" in name for _, _, name in trace.instants)
        print(f"small ring: {len(trace.slices)} slices, and drops are shown")
        assert sorted(os.listdir(folder))[-1] == "small-ring.pftrace", "something was left beside the files"
    return 0


if __name__ == "__main__":
    sys.exit(main())
