#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What profiles, reports, traces and hang reports say of unmodified OpenMP programs.

Usage: test_reports.py <libquern_omp.so> <folder of programs>
"""

import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY, FOLDER = sys.argv[1:]
LIMIT_S = 30
SOURCES = os.path.dirname(os.path.abspath(__file__))


def line_of(source, text, which=0):
    """The line of a source that has the text."""
    with open(os.path.join(SOURCES, source), encoding="utf-8") as lines:
        found = [number for number, line in enumerate(lines, 1) if text in line]
    return found[which]


def start(program, *words, **variables):
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "QUERN_"))}
    return subprocess.Popen([os.path.join(FOLDER, program), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**own, "OMP_NUM_THREADS": "2", "LD_PRELOAD": LIBRARY, **variables}, text=True)


def run(program, *words, **variables):
    with start(program, *words, **variables) as process:
        text, _ = process.communicate(timeout=LIMIT_S)
        return process.returncode, text


def hang(kind):
    """What a program that hangs has said up to the end of its report; it is ended then."""
    with start("deadlocks", kind) as process:
        text = ""
        for line in process.stdout:
            text += line
            if "QUERN_HANG_REPORT=off" in line:
                break
        process.kill()
        return text


def fields(message):
    """The fields of a message of protocol buffers: number, value."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            size = number() if size is None else size
            yield key >> 3, message[at:at + size]
            at += size


def arrows_of(trace):
    """Between slices of a trace: how many end somewhere, of those that begin somewhere."""
    begins, ends = set(), set()
    for _, packet in fields(trace):
        for kind, event in fields(packet):
            if kind == 11:  # a TrackEvent: flow_ids, terminating_flow_ids
                begins |= {value for field, value in fields(event) if field == 47}
                ends |= {value for field, value in fields(event) if field == 48}
    return len(begins & ends)


class Recordings(unittest.TestCase):
    def test_a_profile_names_tasks_and_regions_of_an_unmodified_program(self):
        with tempfile.TemporaryDirectory() as folder:
            page, trace = os.path.join(folder, "run.html"), os.path.join(folder, "run.pftrace")
            status, text = run("cholesky_depend", QUERN_PROFILE="stderr", QUERN_REPORT=page, QUERN_TRACE=trace)
            self.assertEqual(status, 0, text)
            with open(page, encoding="utf-8") as read:
                self.assertIn("task in cholesky", read.read())
            with open(trace, "rb") as read:
                recorded = read.read()
            self.assertIn(b"task in cholesky", recorded)
            # Mostly all tasks but the first have one; fewer if tasks have ended before others are made.
            self.assertGreaterEqual(arrows_of(recorded), 10)
        self.assertRegex(text, r"region in cholesky \(cholesky_depend\.c:%d\)"
                         % line_of("cholesky_depend.c", "#pragma omp parallel"))
        counts = {"inout : tile(a, k, k)": 6, "inout : tile(a, i, k)": 15, "inout : tile(a, i, j)": 35}
        for clause, count in counts.items():
            line = line_of("cholesky_depend.c", clause)
            self.assertRegex(text, r"task in cholesky \(cholesky_depend\.c:%d\) +%d " % (line, count))
        self.assertIn("critical path", text)
        # The second one where other programs took most of the time.
        self.assertRegex(text, r" was (work|in tasks; how much of that is work is not known)\.\n")

    def test_waits_are_in_the_table(self):
        _, text = run("deadlocks", "long", QUERN_PROFILE="stderr", OMP_NUM_THREADS="3")
        self.assertRegex(text, r"a barrier .*region in compute_for_long")
        self.assertRegex(text, r"a critical region .*region in compute_for_long")

    def test_nothing_is_recorded_unless_it_is_asked_for(self):
        status, text = run("cholesky_depend")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"^error [0-9.e+-]+\n$")


class Hangs(unittest.TestCase):
    def says(self, kind, *expected):
        text = hang(kind)
        self.assertIn("no member of a team can run any more", text)
        for each in expected:
            self.assertRegex(text, each)

    def place(self, function, text, which=0):
        return r"(?:waits|called) in %s at \S*deadlocks\.c:%d\n" % (function, line_of("deadlocks.c", text, which))

    def test_a_barrier_to_which_one_member_does_not_come(self):
        self.says("barrier", r"for a barrier: 2 of 3 members have come; as member [02]",
                  r"member 1 of an OpenMP team' .* for an OpenMP lock 0x\w+: .*held by .*outside",
                  self.place("miss_barrier", "#pragma omp barrier"), self.place("miss_barrier", "omp_set_lock(&left);", 1))

    def test_a_lock_taken_twice(self):
        self.says("lock", r"for an OpenMP lock 0x\w+, held by itself", r"waits in lock_twice at ")

    def test_a_taskwait_for_a_task_that_waits_for_a_lock_of_its_waiter(self):
        self.says("taskwait", r"for an OpenMP lock 0x\w+: member [01] of a team of 2 has it, held by itself",
                  r"waits in wait_for_task at ", r"called in wait_for_task at \S*deadlocks\.c:%d\n"
                  % line_of("deadlocks.c", "#pragma omp taskwait"), r"for a barrier: 1 of 2 members have come")

    def test_nested_critical_regions(self):
        self.says("criticals", r"cycle of 2 locks: #\d waits for #\d, #\d waits for #\d", r"waits in nest_criticals at ",
                  r"for a critical region 0x\w+: member 0 of a team of 2 has it", r"member 1 of a team of 2 has it")

    def test_two_locks_in_a_ring(self):
        self.says("locks", r"cycle of 2 locks", self.place("lock_in_a_ring", "omp_set_lock(second);"))

    def test_long_computations_are_no_hangs(self):
        for variables in ({}, {"QUERN_HANG_REPORT": "1"}):
            status, text = run("deadlocks", "long", OMP_NUM_THREADS="3", **variables)
            self.assertEqual((status, text), (0, "over\n"))

    def test_the_setting_keeps_it_quiet(self):
        with start("deadlocks", "lock", QUERN_HANG_REPORT="off") as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=2)
            process.kill()
            self.assertEqual(process.stdout.read(), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
