# SPDX-License-Identifier: BSL-1.0
"""Tests bench/compare in a repository of its own, whose `cmake` installs fake programs; a file in each revision says how fast
they are."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CMAKE = """#!{python}
import os, sys
sys.path.insert(0, os.path.join({tools!r}))
import fake_program
with open({log!r}, "a") as log:
    print(*sys.argv[1:], file=log)
if "--preset" in sys.argv:
    folder = sys.argv[sys.argv.index("-B") + 1]
    os.makedirs(folder)
    with open(os.path.join(folder, "build.ninja"), "w") as file:
        print("slow" if "-DSLOW=ON" in sys.argv else "", file=file)
    sys.exit()
folder = sys.argv[sys.argv.index("--build") + 1]
with open("speed") as file:
    speed, *variants = file.read().split()
if speed == "broken":
    sys.exit("FAILED: quern.o\\nerror: expected ';'")
with open(os.path.join(folder, "build.ninja")) as file:
    factor = 2.0 if file.read().strip() == "slow" else 1.0
for name in ("bench-quern", "bench-serial"):
    offered = ["fib serial"] if name == "bench-serial" else ["fib " + v for v in variants]
    fake_program.write(os.path.join(folder, "bench", "bin"), name, offered, factor * float(speed))
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.log = os.path.join(folder.name, "root"), os.path.join(folder.name, "log")
        tools = os.path.join(self.root, "bench", "tools")
        for part in ("bench", "tools/study"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(self.root, part),
                            ignore=shutil.ignore_patterns("__pycache__", "*pp"))
        os.makedirs(os.path.join(folder.name, "bin"))
        with open(os.path.join(folder.name, "bin", "cmake"), "w", encoding="utf-8") as file:
            file.write(CMAKE.format(python=sys.executable, tools=tools, log=self.log))
        os.chmod(file.name, 0o755)
        self.environment = {**os.environ, "PATH": os.path.join(folder.name, "bin") + ":" + os.environ["PATH"],
                            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
        self.git("init", "--quiet", "--initial-branch=main")
        self.revision("first", "1.0 context plain old")
        self.revision("second", "0.5 context plain new")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=self.root, check=True,
                       capture_output=True, env=self.environment)

    def revision(self, tag, speed):
        with open(os.path.join(self.root, "speed"), "w", encoding="utf-8") as file:
            file.write(speed)
        with open(os.path.join(self.root, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("/build/\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", tag)
        self.git("tag", tag)

    def compare(self, *arguments, status=0):
        command = [sys.executable, os.path.join(self.root, "bench", "compare"), *arguments]
        done = subprocess.run([*command, "--problems", "fib", "--workers", "1"] if status == 0 else command,
                              capture_output=True, text=True, check=False, timeout=100, env=self.environment)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def rows(self, *arguments):
        """{contender: the columns from workers on}"""
        lines = [line.split() for line in self.compare(*arguments).stdout.splitlines()]
        return {line[1]: line[2:] for line in lines if line and line[0] == "fib(30)"}

    def cmake_calls(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()


class Verdicts(Compare):
    def test_a_revision_that_wins_every_round_is_faster(self):
        path = os.path.join(self.root, "build", "x.json")
        done = self.compare("first", "second", "--rounds", "8", "--output", path)
        self.assertIn("0.5×   0.0078  faster\n", done.stdout)
        self.assertIn("2 faster, 0 slower, 0 no difference shown;", done.stdout)
        self.assertIn("only a has fib quern/old\n", done.stderr)
        self.assertIn("only b has fib quern/new\n", done.stderr)
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        pair = result["groups"][0]["pairs"][0]
        self.assertEqual((pair["contender"], pair["median_a"], pair["median_b"], pair["ratio"]), ("quern/context", 1.01, 0.505, 0.5))
        self.assertEqual((pair["wins"], pair["losses"], pair["p"], pair["verdict"]), (8, 0, 2 / 256, "faster"))
        self.assertEqual((result["a"]["revision"], result["b"]["revision"], result["complete"]), ("first", "second", True))

    def test_the_other_way_round_it_is_slower(self):
        self.assertEqual(self.rows("second", "first", "--rounds", "6")["quern/plain"][-3:], ["2.00×", "0.0312", "slower"])

    def test_a_revision_is_as_fast_as_itself(self):
        rows = self.rows("first", "first", "--rounds", "6", "--runtimes", "quern,serial")
        self.assertEqual({" ".join(row[-4:]) for row in rows.values()}, {"1.0000 no difference shown"})
        self.assertEqual(set(rows), {"quern/context", "quern/plain", "quern/old", "serial/serial"})

    def test_few_rounds_show_nothing(self):
        done = self.compare("first", "second", "--rounds", "5")
        self.assertIn("Fewer than 6 rounds can show no difference.", done.stdout)
        self.assertNotIn("  faster\n", done.stdout)

    def test_who_fails_is_told_with_the_reason(self):
        self.revision("third", "1.0 wrong")
        self.assertEqual(" ".join(self.rows("third", "third", "--rounds", "2")["quern/wrong"][-18:]),
                         "a: wrong answer: fib is 3 and not 4; b: wrong answer: fib is 3 and not 4")


class Builds(Compare):
    def test_stay_and_are_built_again_when_their_folder_was_removed(self):
        for _ in range(2):
            self.compare("first", "second", "--rounds", "1")
        self.assertEqual(len([c for c in self.cmake_calls() if "--preset" in c]), 2)
        shutil.rmtree(os.path.join(self.root, "build"))
        self.compare("first", "second", "--rounds", "1")
        self.assertEqual(len([c for c in self.cmake_calls() if "--preset" in c]), 4)

    def test_an_option_makes_a_build_of_its_own(self):
        self.assertEqual(self.rows("second", "second", "--cmake-b=-DSLOW=ON", "--rounds", "6")["quern/plain"][-1], "slower")
        self.assertEqual(self.rows("second", "second", "--rounds", "1")["quern/plain"][-3:], ["no", "difference", "shown"])

    def test_the_working_tree_is_taken_as_it_is(self):
        with open(os.path.join(self.root, "speed"), "w", encoding="utf-8") as file:
            file.write("4.0 context")
        done = self.compare("second", ".", "--rounds", "6")
        self.assertIn("slower\n", done.stdout)
        self.assertRegex(done.stdout, r"b = \. \(second-dirty\)|b = \. \([0-9a-f]+-dirty\)")
        self.assertTrue(os.path.exists(os.path.join(self.root, "build", "bench", "bench", "bin", "bench-quern")))

    def test_a_check_out_that_was_changed_is_refused(self):
        self.compare("first", "first", "--rounds", "1")
        folder = os.path.join(self.root, "build", "compare")
        folder = os.path.join(folder, os.listdir(folder)[0])
        with open(os.path.join(folder, "speed"), "w", encoding="utf-8") as file:
            file.write("4.0 context")
        self.assertIn("is no longer what was checked out; remove it with: git worktree remove --force",
                      self.compare("first", "first", status=1).stderr)


class Mistakes(Compare):
    def test_are_told_before_anything_is_built(self):
        for arguments, words in ((["secnod", "."], "'secnod' is no revision of"),
                                 (["secnod", "."], "; did you mean 'second'?"),
                                 (["--", "--help", "."], "'--help' is no revision of"),
                                 ([".", ".", "--problems", "fub"], "'fub' is no problem; accepted: fib, "),
                                 ([".", ".", "--runtimes", "tbb"], "'tbb' is no runtime; accepted: quern, serial")):
            self.assertIn("bench/compare: ", self.compare(*arguments, status=1).stderr)
            self.assertIn(words, self.compare(*arguments, status=1).stderr)
        self.assertFalse(os.path.exists(self.log))

    def test_a_build_that_fails_is_told_by_its_last_lines(self):
        self.revision("third", "broken")
        said = self.compare("first", "third", status=1).stderr
        self.assertIn("with status 1:\n  cmake --build ", said)
        self.assertIn("    FAILED: quern.o\n    error: expected ';'", said)


if __name__ == "__main__":
    unittest.main()
