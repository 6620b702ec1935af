# SPDX-License-Identifier: BSL-1.0
"""Runs `quern tune` on small programs whose cost is a function of their arguments. Usage: test_tune.py <quern>"""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

QUERN = sys.argv.pop()
COST = ["--time", "cost ([-0-9.e]+)"]
BOWL = ["sh", "-c", 'echo "cost $((($1 - 37) * ($1 - 37) + 5))"', "bowl", "{x}"]


def tune(*arguments, timeout=50, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("QUERN_")}
    return subprocess.run([QUERN, "tune", *arguments], capture_output=True, text=True, timeout=timeout, check=False,
                          env={**environment, **variables})


class Searches(unittest.TestCase):
    def test_finds_the_least_cost(self):
        result = tune("--integer", "x=0:100@90", "--repetitions", "1", *COST, "--", *BOWL)
        self.assertEqual(result.returncode, 0, result.stderr)
        best = int(re.search(r"(?m)^best   x=(\d+): ", result.stdout).group(1))
        self.assertLessEqual(abs(best - 37), 3, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^start  x=90: 2814, median of 5 runs")
        self.assertIn("the best is better in 5 of 5 pairs (sign test: p = 0.031)", result.stdout)
        self.assertRegex(result.stdout, rf"(?m)^use: sh -c .* bowl {best}$")
        self.assertRegex(result.stderr, r"(?m)^\[1\] x=90: 2814")

    def test_tries_every_word_of_a_choice_and_sets_variables(self):
        result = tune("--choice", "how=a,b,c", "--strategy", "exhaustive", "--repetitions", "1", *COST, "--", "HOW={how}",
                      "sh", "-c", "case $HOW in b) echo cost 1 ;; *) echo cost 2 ;; esac")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^best   how=b: 1,")
        self.assertRegex(result.stdout, r"(?m)^use: HOW=b sh -c ")

    def test_keeps_to_the_start_when_nothing_is_better(self):
        result = tune("--integer", "x=0:9@4", "--repetitions", "1", *COST, "--", "sh", "-c", "echo cost 1 {x}")
        self.assertIn("no point is better than the start", result.stdout)

    def test_is_the_same_for_a_seed(self):
        once, again = (tune("--real", "x=0:100", "--strategy", "simulated-annealing", "--trials", "20", "--seed", "3",
                            "--pairs", "0", "--repetitions", "1", "--time", "cost (.*)", "--", "sh", "-c", "echo cost {x}").stdout
                       for _ in range(2))
        self.assertEqual(once, again)

    def test_points_that_fail_do_not_win(self):
        result = tune("--integer", "x=1:4@4", "--strategy", "exhaustive", "--repetitions", "1", *COST, "--", "sh", "-c",
                      "test {x} -gt 2 || exit 3; echo cost {x}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^best   x=3: 3,")
        self.assertIn("x=1: does not work (exit status 3)", result.stderr)

    def test_a_start_that_fails_ends_it(self):
        result = tune("--integer", "x=1:4@4", *COST, "--", "sh", "-c", "echo gone wrong; exit 3 # {x}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the program does not work at the start, x=4: exit status 3", result.stderr)
        self.assertIn("gone wrong", result.stderr)
        missing = tune("--integer", "x=1:4", "--", "/no/such/program", "{x}")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("cannot be started: No such file or directory", missing.stderr)

    def test_stops_runs_that_take_too_long(self):
        result = tune("--integer", "x=0:1@0", "--strategy", "exhaustive", "--repetitions", "1", "--timeout", "5", "--pairs", "0",
                      *COST, "--", "sh", "-c", "test {x} = 1 && sleep 100; echo cost 2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("x=1: at least 5.00 s, stopped by --timeout", result.stderr)

    def test_writes_every_run(self):
        with tempfile.TemporaryDirectory() as folder:
            table, text = os.path.join(folder, "runs.csv"), os.path.join(folder, "runs.json")
            result = tune("--integer", "x=1:3", "--strategy", "exhaustive", "--repetitions", "2", "--pairs", "0", "--csv", table,
                          "--json", text, *COST, "--", "sh", "-c", "echo cost {x}")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(table, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([row["x"] for row in rows], ["1", "2", "3"] * 2)  # repetitions alternate
            self.assertEqual({row["status"] for row in rows}, {"ok"})
            with open(text, encoding="utf-8") as file:
                whole = json.load(file)
            self.assertEqual(len(whole["runs"]), 6)

    def test_control_c_shows_the_best_so_far(self):
        child = subprocess.Popen([QUERN, "tune", "--integer", "x=0:100@50", "--repetitions", "1", *COST, "--", "sh", "-c",
                                  "test {x} = 50 || sleep 100; echo cost 7"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        self.assertIn("[1] x=50: 7", child.stderr.readline())
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 130)
        self.assertIn("best   x=50: 7", out)
        self.assertIn("interrupted by signal 2", out)


class Mistakes(unittest.TestCase):
    def expect(self, *parts, of):
        result = tune(*of)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_are_named(self):
        program = ["--", "true", "{x}"]
        self.expect("no parameter; accepted: --integer", of=["--", "true"])
        self.expect("the program is missing", of=["--integer", "x=1:2"])
        self.expect("'=' is missing; accepted: NAME=LEAST:MOST", of=["--integer", "x", *program])
        self.expect("'a' is no number", of=["--integer", "x=a:2", *program])
        self.expect("'1.5' is no whole number; the nearest is 2", of=["--integer", "x=1.5:2", *program])
        self.expect("the range from 9 to 1 is empty", of=["--integer", "x=9:1", *program])
        self.expect("start at 7; accepted: a whole number from 1 to 5; the nearest is 5", of=["--integer", "x=1:5@7", *program])
        self.expect("100 is no power of two; the nearest below is 64", of=["--power-of-two", "x=1:100", *program])
        self.expect("start at 'colums'", "did you mean 'columns'?", of=["--choice", "x=rows,columns@colums", *program])
        self.expect("no parameter is named 'y'", "accepted: x", of=["--integer", "x=1:2", "--", "true", "{x}", "{y}"])
        self.expect("the parameter 'x' occurs nowhere", of=["--integer", "x=1:2", "--", "true"])
        self.expect("is there twice", of=["--integer", "x=1:2", "--real", "x=1:2", *program])
        self.expect("--strategy is 'neldermead'", "did you mean 'nelder-mead'?",
                    of=["--integer", "x=1:2", "--strategy", "neldermead", *program])
        self.expect("cannot try every value of the real parameter 'x'", of=["--real", "x=1:2", "--strategy", "exhaustive", *program])
        self.expect("which has no group", of=["--integer", "x=1:2", "--time", "cost", *program])
        self.expect("no regular expression", of=["--integer", "x=1:2", "--time", "(", *program])
        self.expect("--cut is '0.5'; accepted: a factor from 1 on", of=["--integer", "x=1:2", "--cut", "0.5", *program])
        self.expect("--timeout is '-1'; accepted: a number above 0", of=["--integer", "x=1:2", "--timeout=-1", *program])


if __name__ == "__main__":
    unittest.main()
