#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""`quern run --openmp` starts OpenMP programs on Quern's library.

Usage: test_tool.py <quern> <program>...
"""

import os
import subprocess
import sys
import unittest

TOOL, *PROGRAMS = sys.argv[1:]


def run(*words):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    return subprocess.run([TOOL, "run", *words], env={**variables, "OMP_NUM_THREADS": "2"}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100, check=False, text=True)


class OpenmpPrograms(unittest.TestCase):
    def test_each_way_starts_them_on_quern(self):
        for way in ("--openmp", "--openmp=preload", "--openmp=replace"):
            for program in PROGRAMS:
                with self.subTest(way=way, program=program):
                    done = run(way, "--", program, "--on-quern")
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_without_the_option_they_run_on_their_own_library(self):
        done = run("--", PROGRAMS[0], "--on-quern")
        self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_another_word_is_refused(self):
        done = run("--openmp=replac", "--", PROGRAMS[0])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--openmp is 'replac'; accepted: preload, replace; did you mean 'replace'?", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
