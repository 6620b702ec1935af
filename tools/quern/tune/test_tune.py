# SPDX-License-Identifier: BSL-1.0
"""Runs `quern tune` on small programs whose cost is computed from their arguments and printed, so that results do not depend on
the machine's speed. Usage: test_tune.py <path of quern>"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

QUERN = sys.argv.pop()
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("QUERN_")}
TIME = ["--time", "cost=([0-9.]+)"]
PARABOLA = ["sh", "-c", "echo cost=$(( ({x}-3)*({x}-3)+5 ))"]  # least at x=3


def run(*arguments):
    return subprocess.run([QUERN, "tune", *arguments], capture_output=True, text=True, errors="strict", timeout=120, check=False,
                          env=ENVIRONMENT)


def runs(process):
    """Whether it runs: not when it has ended and was not waited for, as where the first process of a container waits for none."""
    try:
        stat = pathlib.Path("/proc", process, "stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def runs(self, *arguments):
        """The result with everything that --json writes."""
        file = self.folder / "all.json"
        result = run("--json", str(file), *arguments)
        return result, json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


class Search(Folder):
    def test_finds_the_best_argument(self):
        result = run("--integer", "x=1:9@9", *TIME, "--", *PARABOLA)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[:3], [
            "best   x=3: 5, median of 5 runs, spread 0 %",
            "start  x=9: 41, median of 5 runs, spread 0 %",
            "the start costs 8.20 times as much; the best is better in 5 of 5 pairs (sign test: p = 0.031)"])
        self.assertIn("by hill-climbing; the search ended: no neighbour is better\n", result.stdout)
        self.assertIn("use: sh -c 'echo cost=$(( (3-3)*(3-3)+5 ))'\n", result.stdout)

    def test_shows_each_run(self):
        lines = run("--integer", "x=1:9@9", *TIME, "--", *PARABOLA).stderr.splitlines()
        self.assertEqual(lines[0], "[1] x=9: 41, best x=9: 41")
        self.assertTrue(lines[-1].startswith(f"[{len(lines)}] x="))

    def test_every_kind_of_parameter(self):
        program = ["C={c}", "sh", "-c", "test $C = b || exit 0; echo cost={i}{s}{p}; : {r}"]
        result, everything = self.runs("--integer", "i=2:8:2@8", "--size", "s=1000:1e6@1000", "--power-of-two", "p=8:512@64",
                                       "--real", "r=0.1:10@2.5", "--choice", "c=a,b@b", "--trials", "1", "--repetitions", "1",
                                       *TIME, "--", *program)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(everything["runs"][0]["values"], {"i": 8, "s": 1000, "p": 64, "r": 2.5, "c": "b"})
        self.assertEqual(everything["runs"][0]["cost"], 8100064)
        self.assertIn("use: C=b sh -c ", result.stdout)
        self.assertIn("no point is better than the start", result.stdout)
        self.assertIn("by nelder-mead; the search ended: the limit of 1 trial is reached", result.stdout)

    def test_repetitions_alternate_and_the_median_counts(self):
        script = self.folder / "noisy"
        script.write_text("n=$(cat $1 2>/dev/null || echo 0); n=$((n+1)); echo $n > $1; echo cost=$(($2*10 + n%3))\n")
        _, everything = self.runs("--integer", "x=1:2", "--strategy", "exhaustive", "--pairs", "0", *TIME, "--", "sh", str(script),
                                  str(self.folder / "{x}"), "{x}")
        self.assertEqual([each["values"]["x"] for each in everything["runs"]], [1, 2] * 3)
        self.assertEqual((everything["best"]["median"], everything["best"]["spread"]), (11, 2 / 11))

    def test_noise(self):
        counter = self.folder / "count"  # runs of the start cost 4 in the search; then both points cost 1, 2, 3 … in turn
        script = f"n=$(cat {counter} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {counter}; " \
                 "[ $n -le 2 ] && n=$((100-{x})); echo cost=$n"
        result = run("--integer", "x=1:2@1", "--strategy", "exhaustive", "--repetitions", "1", "--pairs", "6", *TIME, "--", "sh",
                     "-c", script)
        self.assertIn("the difference is within noise: the best is better in 3 of 6 pairs (sign test: p = 0.66)", result.stdout)

    def test_few_pairs(self):
        result = run("--integer", "x=1:9@9", "--pairs", "2", *TIME, "--", *PARABOLA)
        self.assertIn("too few different pairs for a sign test (2 of 5)", result.stdout)

    def test_equal_seeds_give_equal_runs(self):
        arguments = ["--integer", "x=1:99", "--strategy", "random", "--trials", "9", "--repetitions", "1", *TIME]
        first, second, third = (run(*arguments, "--seed", seed, "--", *PARABOLA).stderr for seed in ("1", "1", "2"))
        self.assertEqual(first, second)
        self.assertNotEqual(first, third)

    def test_braces_around_anything_else_stay(self):
        result = run("--integer", "x=3:3", *TIME, "--", "sh", "-c", "echo '{} {1} { x }' cost={x}")
        self.assertIn("use: sh -c 'echo '\\''{} {1} { x }'\\'' cost=3'", result.stdout)


class Failures(Folder):
    def test_two_braces_stand_for_one(self):
        words = {"{{x}}": "{x}", "{{{x}}}": "{3}", "{{y}}": "{y}", "{{x}": "{3", "{x}}": "3}", "{{{{x}}}}": "{{x}}", "a{{x}}{x}": "a{x}3",
                 "{\"n\":{\"v\":{x}}}": "{\"n\":{\"v\":3}}"}
        result = run("--integer", "x=3:3", *TIME, "--", "sh", "-c", "echo cost={x}; for i; do echo \"$i\" >> $0; done",
                     str(self.folder / "words"), *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        seen = (self.folder / "words").read_text(encoding="utf-8").splitlines()
        self.assertEqual(seen[:len(words)], list(words.values()))

    def test_points_that_do_not_work(self):
        script = "[ {x} -ge 3 ] || exit 7; echo cost={x}"
        result, everything = self.runs("--integer", "x=1:5@5", "--strategy", "exhaustive", *TIME, "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("best   x=3: 3,", result.stdout)
        self.assertIn("] x=1: does not work (exit status 7)", result.stderr)
        failed = [each for each in everything["runs"] if each["values"]["x"] == 1]
        self.assertEqual([(each["status"], each["cost"]) for each in failed], [("exit status 7", None)])  # not run again

    def expect_at_start(self, words, *parts):
        result = run("--integer", "x=1:5@2", *TIME, "--", *words)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_at_the_start(self):
        self.expect_at_start(["sh", "-c", "echo first; echo the cause {x} >&2; exit 3"],
                             "quern tune: the program does not work at the start, x=2: exit status 3; the end of its output:\n"
                             "first\nthe cause 2\n")
        self.expect_at_start(["sh", "-c", "kill -9 $$; {x}"], "x=2: signal 9 (Killed); it has printed nothing\n")
        self.expect_at_start(["echo", "price={x}"], "no line matches --time", "price=2\n")
        self.expect_at_start(["echo", "cost=1.{x}.3"], "'1.2.3' is no number")
        self.expect_at_start(["/no/such/program", "{x}"], "cannot be started: No such file or directory")

    def test_of_a_start_are_in_the_files(self):
        result, everything = self.runs("--integer", "x=1:5@2", *TIME, "--", "sh", "-c", "exit {x}")
        self.assertEqual(result.returncode, 1)
        self.assertEqual((everything["failure"], len(everything["runs"])), ("exit status 2", 1))

    def test_the_end_of_a_long_output_is_kept(self):
        result = run("--integer", "x=2:2", *TIME, "--", "sh", "-c", "yes | head -c 3000000; echo cost={x}")
        self.assertIn("best   x=2: 2,", result.stdout)

    def test_a_timeout(self):
        result = run("--integer", "x=1:2@1", "--strategy", "exhaustive", "--timeout", "5", *TIME, "--", "sh", "-c",
                     "[ {x} = 1 ] || sleep 100; echo cost={x}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("[2] x=2: at least 5.00 s, stopped by --timeout", result.stderr)

    def test_no_point_works(self):
        result = run("--integer", "x=1:2@1", "--timeout", "0.1", "--", "sh", "-c", "sleep 100; {x}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no point has a result\n", result.stdout)

    def test_a_slow_run_is_cut(self):
        _, everything = self.runs("--choice", "x=0.2,100", "--strategy", "exhaustive", "--repetitions", "1", "--cut", "4", "--",
                                  "sleep", "{x}")
        self.assertEqual([each["status"] for each in everything["runs"]], ["ok", "cut"])
        self.assertEqual(everything["runs"][1]["cost"], 4 * everything["runs"][0]["cost"])


class Interruption(Folder):
    def test_ends_the_run_and_shows_the_best(self):
        number = self.folder / "pid"
        script = f"if [ {{x}} = 1 ]; then echo cost=5; else echo $$ > {number}.new; mv {number}.new {number}; sleep 100; fi"
        with subprocess.Popen([QUERN, "tune", "--integer", "x=1:2@1", "--strategy", "exhaustive", "--repetitions", "1", *TIME, "--",
                               "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=ENVIRONMENT) as process:
            while not number.exists():
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("best   x=1: 5,", output)
        self.assertIn("interrupted by signal 2", output)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(number.read_text()), 0)


class Files(Folder):
    def test_csv(self):
        file = self.folder / "runs.csv"
        run("--choice", "x=3,a b", "--strategy", "exhaustive", "--repetitions", "1", "--csv", str(file), *TIME, "--", "sh", "-c",
            "echo cost={x}")
        with open(file, newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        self.assertEqual([(row["run"], row["pair"], row["x"], row["cost"], row["status"]) for row in rows],
                         [("1", "", "3", "3", "ok"), ("2", "", "a b", "", "no line matches --time")])
        self.assertTrue(all(float(row["seconds"]) > 0 for row in rows))

    def test_json(self):
        result, everything = self.runs("--integer", "x=1:9@9", *TIME, "--", *PARABOLA)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(everything["strategy"], "hill-climbing")
        self.assertEqual(everything["best"], {"values": {"x": 3}, "runs": 5, "median": 5, "spread": 0})
        self.assertEqual(everything["start"]["values"], {"x": 9})
        self.assertEqual(everything["pairs"], {"different": 5, "better": 5, "p": 1 / 32})
        self.assertEqual([each["pair"] for each in everything["runs"] if "pair" in each], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])

    def test_of_a_killed_search_have_its_runs(self):
        file, number = self.folder / "all.json", self.folder / "pid"
        script = f"if [ {{x}} = 1 ]; then echo cost=5; else echo $$ > {number}.new; mv {number}.new {number}; exec sleep 100; fi"
        with subprocess.Popen([QUERN, "tune", "--integer", "x=1:2@1", "--strategy", "exhaustive", "--repetitions", "1", *TIME,
                               "--json", str(file), "--", "sh", "-c", script], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
            while not number.exists():
                time.sleep(0.01)
            process.kill()
        while runs(number.read_text().strip()):  # ends at the test's limit if it is not ended
            time.sleep(0.01)
        everything = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(([each["cost"] for each in everything["runs"]], everything["ended"]), ([5], ""))

    def test_a_pipe_gets_its_text_once(self):
        result = run("--integer", "x=1:2", "--csv", "/dev/stdout", *TIME, "--", *PARABOLA)
        self.assertEqual(result.stdout.count("run,pair,x,seconds,cost,status\n"), 1)

    def test_that_cannot_be_written_are_found_before_the_runs(self):
        result = run("--integer", "x=1:9", "--csv", "/no/such/folder/a", *TIME, "--", *PARABOLA)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "quern: '/no/such/folder/a' cannot be written: No such file or directory\n")


class Mistakes(unittest.TestCase):
    def expect(self, arguments, *parts):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def declare(self, option, text, *parts):
        self.expect([option, text, "--", "echo", "{x}"], f"quern tune: {option} '{text}': ", *parts)

    def test_in_parameters(self):
        form = "accepted: NAME=LEAST:MOST[:STEP][@START], such as x=10:1000:10@60"
        self.declare("--integer", "x", "'=' is missing", form)
        self.declare("--integer", "=1:2", "'' is no name", form)
        self.declare("--integer", "2x=1:2", "'2x' is no name", form)
        self.declare("--integer", "x=5", "'5' is no range", form)
        self.declare("--integer", "x=1:2:3:4", "'1:2:3:4' is no range", form)
        self.declare("--integer", "x=1:many", "'many' is no number", form)
        self.declare("--integer", "x=1:2.7", "'2.7' is no whole number; the nearest is 3", form)
        self.declare("--integer", "x=9:1", "the range from 9 to 1 is empty", "as from 1 to 9")
        self.declare("--integer", "x=1:9:0", "a step of 0; accepted: whole numbers from 1 on")
        self.declare("--integer", "x=1:9@12", "start at 12; accepted: a whole number from 1 to 9; the nearest is 9")
        self.declare("--integer", "x=1:9@a", "'a' is no number", form)
        self.declare("--size", "x=0:9", "cannot be divided by ratio; accepted: numbers above 0")
        self.declare("--power-of-two", "x=8:100", "100 is no power of two; the nearest below is 64")
        self.declare("--power-of-two", "x=0:8", "0 is no power of two; the nearest is 1")
        self.declare("--power-of-two", "x=1:8:2", "'1:8:2' is no range", "accepted: NAME=LEAST:MOST[@START], such as")
        self.declare("--real", "x=0:inf", "'inf' is no number")
        self.declare("--choice", "x=rows,columns@row", "start at 'row'", "did you mean 'rows'?")
        self.declare("--choice", "x=a,a", "the word 'a' is there twice")

    def test_in_places(self):
        self.expect(["--integer", "tile=1:9", "--", "echo", "{tlie}"],
                    "no parameter is named 'tlie', as in '{tlie}'; accepted: tile; did you mean 'tile'?")
        self.expect(["--integer", "x=1:9", "--", "echo"], "the parameter 'x' occurs nowhere", "write {x} where")
        self.expect(["--integer", "x=1:9", "--real", "x=1:9", "--", "echo", "{x}"], "parameter 'x': is there twice")
        self.expect(["--", "echo"], "no parameter; accepted: --integer, --size, --power-of-two, --real, --choice")

    def test_in_the_program(self):
        self.expect(["--integer", "x=1:9"], "the program is missing")
        self.expect(["--integer", "x=1:9", "--", "A={x}"], "the program is missing")

    def test_in_options(self):
        given = ["--integer", "x=1:9", "--", "echo", "{x}"]
        self.expect(["--intger", "x=1:9", *given], "unknown option '--intger'", "did you mean '--integer'?")
        self.expect(["--strategy", "hill-climing", *given], "--strategy is 'hill-climing'; accepted: exhaustive, random, ",
                    "did you mean 'hill-climbing'?")
        self.expect(["--strategy", "model", *given], "--strategy is 'model'; accepted: exhaustive")
        self.expect(["--time", "cost", *given], "--time is 'cost', which has no group; accepted: a regular expression with a group")
        self.expect(["--time", "(", *given], "--time is '(', which is no regular expression: ", "accepted: ")
        self.expect(["--timeout", "0", *given], "--timeout is '0'; accepted: a number above 0")
        self.expect(["--timeout", "soon", *given], "--timeout is 'soon'; accepted: a number above 0")
        self.expect(["--cut", "0.5", *given], "--cut is '0.5'; accepted: a factor from 1 on")
        self.expect(["--repetitions", "0", *given], "--repetitions")
        self.expect(["--trials", "0", *given], "--trials")
        self.expect(["--strategy", "exhaustive", "--real", "x=1:9", "--", "echo", "{x}"], "exhaustive search cannot try every value")


class Help(unittest.TestCase):
    def test_has_examples(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Examples:", result.stdout)


if __name__ == "__main__":
    unittest.main()
