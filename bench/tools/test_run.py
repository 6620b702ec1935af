# SPDX-License-Identifier: BSL-1.0
"""Runs bench/run as a user would, with fake programs."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import fake_program

RUN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run")


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        programs = os.path.join(self.folder, "bench", "bin")
        fake_program.write(programs, "bench-serial", ["fib serial"], 8.0)
        fake_program.write(programs, "bench-quern", ["fib context", "fib wrong", "uts context"], 2.0)

    def command(self, *arguments):
        return [sys.executable, RUN, "--build", self.folder, "--problems", "fib", "--runtimes", "serial,quern", *arguments]

    def run_it(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=60)

    def result(self):
        with open(os.path.join(self.folder, "results.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_writes_what_everybody_measured_and_why_others_have_nothing(self):
        done = self.run_it("--workers", "1,2", "--repetitions", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual([(g["problem"], g["size"], g["workers"]) for g in result["groups"]], [("fib", 30, 1), ("fib", 30, 2)])
        serial, right, wrong = result["groups"][1]["results"]
        self.assertEqual((serial["contender"], serial["workers"], right["workers"]), ("serial/serial", 1, 2))
        self.assertEqual([r["value"] for r in right["repetitions"]], [2.02, 2.04, 2.0])
        self.assertEqual((wrong["failure"], wrong["repetitions"]), ("wrong answer: fib is 3 and not 4", []))
        self.assertIn("commit", result["machine"])

    def test_openmp_programs_also_run_with_querns_library_preloaded(self):
        programs = os.path.join(self.folder, "bench", "bin")
        fake_program.write(programs, "bench-libgomp", ["fib task"], 4.0)
        arguments = ("--workers", "1", "--repetitions", "1", "--runtimes", "libgomp,quern-preload-gcc,quern-preload-clang")
        without = self.run_it(*arguments)
        self.assertIn("libquern_omp.so: goes without quern-preload-gcc", without.stderr)
        self.assertIn("bench-libomp: goes without quern-preload-clang", without.stderr)
        self.assertEqual([r["contender"] for r in self.result()["groups"][0]["results"]], ["libgomp/task"])
        os.makedirs(os.path.join(self.folder, "lib"))
        library = os.path.join(self.folder, "lib", "libquern_omp.so")
        with open(library, "wb"):  # the dynamic linker tells that it cannot be preloaded, and continues
            pass
        log = os.path.join(self.folder, "log")
        with_it = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=60,
                                 env={**os.environ, "FAKE_LOG": log})
        self.assertEqual(with_it.returncode, 0, with_it.stderr)
        self.assertEqual([r["contender"] for r in self.result()["groups"][0]["results"]], ["libgomp/task", "quern-preload-gcc/task"])
        with open(log, encoding="utf-8") as file:
            self.assertIn(f"preloaded {library}", file.read().splitlines())

    def test_a_signal_ends_it_and_what_was_measured_is_kept(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        fake_program.write(os.path.join(self.folder, "bench", "bin"), "bench-quern", ["fib context", "fib hangs"])
        driver = subprocess.Popen(self.command("--workers", "1"), stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "FAKE_FIFO": fifo})
        with open(fifo, "rb"):  # the last contender hangs from here on
            driver.send_signal(signal.SIGTERM)
            said = driver.communicate(timeout=60)[1]
        self.assertEqual(driver.returncode, 130)
        self.assertIn("stopped by SIGTERM; wrote what there is to", said)
        group, = self.result()["groups"]
        self.assertEqual((self.result()["complete"], group["complete"]), (False, False))
        self.assertEqual(group["results"][0]["warm_up"]["value"], 8.0)

    def test_mistakes_are_told_before_anything_runs(self):
        for arguments, words in ((["--problems", "fub"], "'fub' is no problem; accepted: fib, "),
                                 (["--problems", "fub"], "; did you mean 'fib'?"),
                                 (["--runtimes", "tbb"], f"nothing to run below {self.folder}"),
                                 (["--output", "/proc/none/x.json"], "cannot write the results to /proc/none/x.json"),
                                 (["--workers", "0"], "'0' is no whole number from 1")):
            done = self.run_it(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
