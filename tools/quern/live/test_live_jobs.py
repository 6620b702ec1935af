# SPDX-License-Identifier: BSL-1.0
"""Queries the ranks of an MPI job together. Usage: test_live_jobs.py <path of quern> <a program to query>"""

import json
import os
import re
import subprocess
import time
import unittest

from live_program import ENVIRONMENT, PATIENCE, PROGRAM, QUERN, program, run


def rank(number, ranks, **variables):
    """A program as a starter of MPI begins it; this process is the starter."""
    return program(OMPI_COMM_WORLD_RANK=str(number), OMPI_COMM_WORLD_SIZE=str(ranks), **variables)


class TopOfAJob(unittest.TestCase):
    def test_has_a_line_for_each_rank(self):
        name = os.path.basename(PROGRAM)
        with rank(1, 3) as second, rank(0, 3) as first:
            for arguments in [(), (name,)]:
                result = run("top", *arguments, "--once", "--interval", "300")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                lines = result.stdout.splitlines()
                self.assertRegex(lines[0], rf"^{name}, 2 of 3 ranks, Quern .*, over \d+\.\d s$")
                self.assertRegex(lines[3], rf"^ +0 +{first.pid} +2 of 2 ")
                self.assertRegex(lines[4], rf"^ +1 +{second.pid} +2 of 2 ")
                self.assertRegex(lines[5], r"^ +all +4 of 4 ")
                self.assertRegex(result.stdout, r"(?m)^  time  tasks\n +\d+\.\d %  grinder: .*test_program.cpp:\d+$")
                self.assertRegex(result.stdout, r"\n +\d.*s  rank [01]: tester: tile 32 -> 64: it is a test")
            answer = json.loads(run("top", "--json", "--interval", "100").stdout)
            self.assertEqual((answer["ranks"], [(each["rank"], each["pid"]) for each in answer["shown"]]),
                             (3, [(0, first.pid), (1, second.pid)]))
            self.assertEqual(answer["shown"][1]["pools"][0]["name"], "default")
            self.assertIn(f"({second.pid})", run("top", str(second.pid), "--once", "--interval", "50").stdout.splitlines()[0])

    def test_takes_in_ranks_that_come_later_and_ends_with_the_last(self):
        with rank(0, 2):
            top = subprocess.Popen([QUERN, "top", "--interval", "50"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=ENVIRONMENT)

            def expect(words):
                deadline = time.monotonic() + PATIENCE
                while words not in top.stdout.readline():
                    self.assertLess(time.monotonic(), deadline)

            expect("1 of 2 ranks")
            with rank(1, 2):
                expect("2 of 2 ranks")
            expect("1 of 2 ranks")
        top.stdout.read()
        self.assertIn("no rank of the job has a runtime any more", top.stderr.read())
        self.assertEqual(top.wait(), 1)
        top.stdout.close()
        top.stderr.close()

    def test_of_two_jobs_one_must_be_named(self):
        with rank(0, 2) as one, rank(0, 2) as other:
            result = run("top", "--once")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            for part in ["there are 2 programs; say the number of one", str(one.pid), str(other.pid)]:
                self.assertIn(part, result.stderr)


class RanksOfAJob(unittest.TestCase):
    def test_tell_their_tasks_and_decisions_one_after_the_other(self):
        with rank(1, 2) as second, rank(0, 2) as first:
            for subcommand, words in [("tasks", "task 'waiter' waits"), ("decisions", "tester: tile 32 -> 64")]:
                result = run(subcommand)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                parts = re.split(r"rank \d of 2, process \d+:\n", result.stdout)
                self.assertEqual((len(parts), parts[0]), (3, ""))
                self.assertEqual(re.findall(r"process (\d+):", result.stdout), [str(first.pid), str(second.pid)])
                self.assertTrue(all(words in part for part in parts[1:]), result.stdout)
            answer = json.loads(run("decisions", "--json").stdout)
            self.assertEqual([(each["rank"], each["pid"]) for each in answer], [(0, first.pid), (1, second.pid)])


class CountersOfAJob(unittest.TestCase):
    def test_are_read_together(self):
        with rank(1, 12), rank(10, 12), rank(0, 12) as first:
            def names(patterns, *arguments):
                result = run("counters", "read", patterns, "--format", "json", *arguments)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                return [each["name"] for each in json.loads(result.stdout)["counters"]]

            self.assertEqual(names("/threads/idle-rate"), [f"/threads{{locality#{i}/total}}/idle-rate" for i in (0, 1, 10)])
            self.assertEqual(names("/threads{locality#1/total}/idle-rate;/threads{locality#*/total}/count/loops"),
                             ["/threads{locality#0/total}/count/loops", "/threads{locality#1/total}/idle-rate",
                              "/threads{locality#1/total}/count/loops", "/threads{locality#10/total}/count/loops"])
            self.assertEqual(names("/statistics{/threads{locality#10/total}/idle-rate}/max@50"),
                             ["/statistics{/threads{locality#10/total}/idle-rate}/max@50"])
            rows = run("counters", "read", "/threads{locality#1/worker-thread#0}/idle-rate", "--interval", "20", "--count", "3",
                       "--format", "csv").stdout.splitlines()
            self.assertEqual([row.split(",")[0] for row in rows], 3 * ["/threads{locality#1/worker-thread#0}/idle-rate"])
            # A process that is named by its number is read alone, and is locality 0 to itself.
            self.assertIn("/threads{locality#0/total}/idle-rate", run("counters", "read", str(first.pid), "/threads/idle-rate").stdout)
            self.assertIn("/threads{locality#0/total}/idle-rate", run("counters", "list", "/threads/idle-rate").stdout)
            for arguments, words in [(("/threads{locality#2/total}/idle-rate",), "are counters of no rank of this job; there are"),
                                     (("/threads/idle-rate", "--format", "openmetrics"), "is for one process; say its number")]:
                result = run("counters", "read", *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(words, result.stderr)

    def test_are_read_until_a_rank_ends(self):
        with rank(0, 2):
            with rank(1, 2):
                reader = subprocess.Popen([QUERN, "counters", "read", "/threads/idle-rate", "--interval", "50"],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
                reader.stdout.readline()
            self.assertIn("locality#1", reader.stdout.read())
            self.assertEqual((reader.stderr.read(), reader.wait()), ("", 0))
        reader.stdout.close()
        reader.stderr.close()


if __name__ == "__main__":
    unittest.main()
