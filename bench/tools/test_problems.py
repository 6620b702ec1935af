# SPDX-License-Identifier: BSL-1.0
"""problems.toml: bench/run and bench/report accept every entry, and each entry names existing programs."""

import glob
import os
import tomllib
import unittest

import targets

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OF_A_FORM = {"size", "workers", "fresh", "limit"}
OF_A_PROBLEM = {"about", "unit", "higher_is_better", "environment", "short", "full", "target"} | OF_A_FORM - {"size"}


class Problems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(BENCH, "problems.toml"), "rb") as file:
            cls.problems = tomllib.load(file)

    def each(self, check):
        for title, problem in self.problems.items():
            with self.subTest(title):
                check(title, problem)

    def test_there_are_some(self):
        self.assertGreater(len(self.problems), 20)

    def test_every_key_is_one_that_somebody_reads(self):
        def check(_, problem):
            self.assertEqual(set(problem) - OF_A_PROBLEM, set())
            self.assertEqual((set(problem["short"]) | set(problem["full"])) - OF_A_FORM, set())

        self.each(check)

    def test_every_problem_says_what_it_is_and_how_large(self):
        def check(_, problem):
            self.assertTrue(problem["about"])
            for form in ("short", "full"):
                self.assertTrue(all(isinstance(s, int) and s >= 0 for s in problem[form]["size"]))
            self.assertTrue(problem["full"]["size"])

        self.each(check)

    def test_workers_and_limits_are_numbers_from_one_on(self):
        def check(_, problem):
            for form in ("short", "full"):
                both = problem | problem[form]
                self.assertTrue(all(isinstance(w, int) and w >= 1 for w in both.get("workers", [1])))
                self.assertGreaterEqual(both.get("limit", 60), 1)

        self.each(check)

    def test_every_target_can_be_measured_by_a_full_run(self):
        targets.check(self.problems)

        def check(_, problem):
            both = problem | problem["full"]
            for target in problem.get("target", []):
                self.assertIn(target.get("size", both["size"][0]), both["size"])
                self.assertIn(target["workers"], both.get("workers", [1, 2, 8]))

        self.each(check)

    def test_every_problem_and_every_contender_of_a_target_is_in_a_source(self):
        text = {}
        ranks = ["mpi*.cpp", "localities.cpp"]
        sources = {"quern": ["quern*.cpp"], "serial": ["serial*.cpp"], "openmpi": ranks, "mpich": ranks}
        for runtime, names in sources.items():
            text[runtime] = ""
            # Some runtimes share code between problems in a header, which has the names.
            for name in names + ["*.hpp"]:
                for path in glob.glob(os.path.join(BENCH, "*", name)):
                    with open(path, encoding="utf-8") as file:
                        text[runtime] += file.read()

        def check(title, problem):
            self.assertTrue(f'"{title}"' in text["quern"] + text["openmpi"], f"no contender says \"{title}\"")
            for target in problem.get("target", []):
                runtime, variant = target["contender"].split("/")
                self.assertTrue(f'"{variant}"' in text[runtime], f"no contender says \"{variant}\"")

        self.each(check)


if __name__ == "__main__":
    unittest.main()
