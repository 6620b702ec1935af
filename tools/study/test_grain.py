# SPDX-License-Identifier: BSL-1.0
"""Runs `quern grain` as a user would, on a fake program. Usage: test_grain.py <path of quern> [<program of Quern with
--partition, such as heat>]. A second path is studied too."""

import csv
import html.parser
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HEAT = sys.argv.pop() if len(sys.argv) > 2 and os.path.basename(sys.argv[-1]) == "heat" else None
QUERN = sys.argv.pop()
FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_quern_program.py")
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("HWLOC_", "QUERN_"))}


def run(*arguments, **variables):
    return subprocess.run([QUERN, "grain", *arguments], capture_output=True, text=True, errors="strict", timeout=180,
                          check=False, env={**ENVIRONMENT, **variables})


def fake(*arguments):
    return ("--", sys.executable, "-S", "-E", FAKE, "--size={size}", *arguments)


def runs(process):
    """Whether it runs: not when it has ended and was not waited for, as where the first process of a container waits for none."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def rows(self, name="out.csv"):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def study(self, *arguments, **variables):
        result = run(*arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


class Study(WithFolder):
    def answer(self, *arguments):
        self.study("--json", self.path("out.json"), "--workers", "1,2", *arguments)
        return json.loads(self.read("out.json"))

    def test_derives_the_metrics(self):
        answer = self.answer("--values", "1000,100000", "--repetitions", "1", *fake())
        self.assertTrue(answer["complete"])
        medians = {(row["workers"], row["grain"]): row for row in answer["medians"]}
        self.assertEqual(len(medians), 4)
        alone, together = medians[1, 100000], medians[2, 100000]
        self.assertAlmostEqual(alone["duration_us"], 100)
        self.assertAlmostEqual(together["duration_us"], 150)
        self.assertAlmostEqual(together["wait_us"], 50)  # 150 - 100
        self.assertAlmostEqual(together["wait_s"], 50e-6 * 100 / 2)
        self.assertAlmostEqual(together["management_s"], 500e-9 * 100 / 2)
        self.assertAlmostEqual(together["lost_rate_percent"], 2)
        self.assertAlmostEqual(together["management_and_wait_s"], 50e-6 * 100 / 2 + 500e-9 * 100 / 2)
        self.assertAlmostEqual(together["time_s"], together["uptime_s"])
        self.assertIsNone(alone["wait_s"])
        self.assertIsNone(alone["pending_misses"])
        self.assertIn("/threads/count/pending-misses (not counted here)", answer["without_value"])

    def test_finds_the_best_grain_and_what_metrics_would_choose(self):
        answer = self.answer("--values", "1e3,5e3,1e4,2e4,5e4,1e5,1e6", "--repetitions", "1", *fake())
        best = {row["workers"]: row for row in answer["best"]}
        self.assertEqual(best[2]["grain"], 20000)
        choices = {row["metric"]: row for row in best[2]["choices"]}
        self.assertEqual(choices["overall_s"]["grain"], 20000)
        self.assertEqual(choices["overall_s"]["slower_percent"], 0)
        self.assertEqual(choices["management_s"]["grain"], 1000000)
        self.assertGreater(choices["management_s"]["slower_percent"], 10)
        fine = {row["metric"]: row for row in answer["correlations"]
                if row["workers"] == 2 and row["range"] == "very fine"}
        self.assertEqual(fine["management_s"]["grains"], 4)
        self.assertAlmostEqual(fine["management_s"]["pearson"], 1, places=6)
        self.assertAlmostEqual(fine["management_s"]["spearman"], 1, places=6)

    def test_table_says_the_same(self):
        text = self.study("--values", "1000,20000,100000", "--workers", "1,2", "--repetitions", "2", *fake()).stdout
        self.assertIn("medians of 2 runs", text)
        self.assertIn("\n1 worker\n", text)
        self.assertRegex(text, r"best, 2 workers: size 20000, 0\.00\d+ s")
        self.assertRegex(text, r"\n +20000 .* very fine\n")
        self.assertRegex(text, r"overall task time +20000 .* 0\.0 %")
        self.assertRegex(text, r"all +3 +-?\d\.\d\d/-?\d\.\d\d")

    def test_csv_has_a_line_per_run(self):
        self.study("--values", "10,20", "--workers", "1,2", "--csv", self.path("out.csv"), *fake())
        rows = self.rows()
        self.assertEqual(len(rows), 2 * 2 * 3)
        order = [(row["repetition"], row["workers"], row["size"]) for row in rows]
        self.assertEqual(order, sorted(order))
        self.assertEqual(rows[0]["pending_misses"], "")
        self.assertGreater(float(rows[0]["wall_s"]), 0)

    def test_takes_the_time_that_the_program_prints(self):
        answer = self.answer("--values", "1000,20000", "--repetitions", "1", "--time", r"time ([0-9.]+) s", *fake())
        self.assertEqual([row["time_s"] for row in answer["medians"]], [1, 20, 1, 20])

    def test_sets_what_a_run_needs(self):
        self.study("--values", "10", "--workers", "2", "--repetitions", "1", *fake("--note", self.path("note")),
                   QUERN_THREADS="7", QUERN_PRINT_COUNTER_INTERVAL="5", QUERN_STACK="small")
        seen = json.loads(self.read("note"))
        self.assertEqual(seen["QUERN_THREADS"], "2")
        self.assertEqual(seen["QUERN_PRINT_COUNTER_FORMAT"], "json")
        self.assertEqual(seen["QUERN_PRINT_COUNTER_AT"], "shutdown")
        self.assertEqual(seen["QUERN_STACK"], "small")
        self.assertNotIn("QUERN_PRINT_COUNTER_INTERVAL", seen)
        self.assertFalse(os.path.exists(seen["QUERN_PRINT_COUNTER_DESTINATION"]))

    def test_default_is_one_worker_and_all(self):
        self.study("--values", "10", "--repetitions", "1", "--csv", self.path("out.csv"), *fake(), QUERN_THREADS="3")
        self.assertEqual([row["workers"] for row in self.rows()], ["1", "3"])

    def test_quick_is_fewer_of_everything(self):
        self.study("--quick", "--from", "100", "--to", "10000", "--workers", "1", "--csv", self.path("out.csv"), *fake())
        self.assertEqual([row["size"] for row in self.rows()], ["100", "1000", "10000"])

    def test_without_one_worker_has_no_wait_times(self):
        answer = run("--values", "10,20,50", "--workers", "2", "--repetitions", "1", *fake())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotIn("TM+WT", answer.stdout)

    def test_progress_is_a_line_per_run(self):
        result = self.study("--values", "10,20", "--workers", "1", "--repetitions", "1", *fake())
        self.assertRegex(result.stderr, r"^\[1/2\] 1 worker, size 10: \d+\.\d+ s\n\[2/2\] 1 worker, size 20: ")


class Page(WithFolder):
    class Tags(html.parser.HTMLParser):
        VOID = {"meta", "br", "line", "rect", "path"}

        def __init__(self):
            super().__init__()
            self.open, self.seen, self.attributes = [], [], []

        def handle_starttag(self, tag, attrs):
            self.seen.append(tag)
            self.attributes += attrs
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_startendtag(self, tag, attrs):
            self.seen.append(tag)
            self.attributes += attrs

        def handle_endtag(self, tag):
            assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
            self.open.pop()

    def test_is_whole_and_needs_nothing_else(self):
        self.study("--values", "100,1000,1e4,5e4,2e5,1e6", "--workers", "1,2", "--repetitions", "1", "--html", self.path("out.html"),
                   *fake("--note", self.path("<b>&")))
        page = self.read("out.html")
        tags = self.Tags()
        tags.feed(page)
        self.assertEqual(tags.open, [])
        self.assertEqual(tags.seen.count("svg"), 9)  # the overview, and four for each number of workers
        self.assertEqual({"script", "link", "img", "iframe", "b"} & set(tags.seen), set())
        self.assertEqual([value for name, value in tags.attributes if name in ("src", "href")], [])
        self.assertNotRegex(page, r"(?i)\b(nan|inf)\b")
        self.assertNotIn("url(", page)
        self.assertIn("prefers-color-scheme: dark", page)
        for rule in ("color-scheme: light dark;", "--c0: #5aa9f8;"):  # of the base sheet, and of the studies'
            self.assertEqual(page.count(rule), 1, rule)
        self.assertIn("very coarse", page)

    def test_of_a_single_run(self):
        self.study("--values", "10", "--workers", "1", "--repetitions", "1", "--html", self.path("out.html"), *fake())
        self.assertIn("Fewer than three grains", self.read("out.html"))


class Stopping(WithFolder):
    def test_ctrl_c_keeps_what_is_measured(self):
        flag = self.path("flag")
        process = subprocess.Popen([QUERN, "grain", "--values", "10,20,30", "--workers", "1", "--csv", self.path("out.csv"),
                                    *fake("--hang-at", "30", "--flag", flag)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=ENVIRONMENT)
        deadline = time.monotonic() + 30
        while not os.path.exists(flag) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted after 2 runs", err)
        self.assertIn("not all of which were made", out)
        self.assertEqual([row["size"] for row in self.rows()], ["10", "20"])

    def test_a_killed_study_leaves_what_is_measured_and_no_program(self):
        flag = self.path("flag")
        with subprocess.Popen([QUERN, "grain", "--values", "10,20,30", "--workers", "1", "--csv", self.path("out.csv"), "--json",
                               self.path("out.json"), *fake("--hang-at", "30", "--flag", flag)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
            while not (os.path.exists(flag) and self.read("flag").endswith("\n")):
                time.sleep(0.01)
            process.kill()
        self.assertEqual([row["size"] for row in self.rows()], ["10", "20"])
        self.assertFalse(json.loads(self.read("out.json"))["complete"])
        while runs(self.read("flag").strip()):  # ends at the test's limit if it is not ended
            time.sleep(0.01)

    def test_a_run_past_its_limit_ends_the_study(self):
        result = run("--values", "10,20,30", "--workers", "1", "--timeout", "8", "--csv", self.path("out.csv"),
                     *fake("--hang-at", "30", "--flag", self.path("flag")))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"was stopped after 8 s, by --timeout \(1 worker, size 30\); its output ends:\n  ")
        self.assertEqual(len(self.rows()), 2)

    def test_a_pipe_gets_its_text_once(self):
        out = self.study("--values", "10,20", "--workers", "1", "--repetitions", "1", "--csv", "/dev/stdout", *fake()).stdout
        self.assertEqual(out.count("wall_s"), 1)

    def test_a_failing_run_keeps_what_is_measured(self):
        result = run("--values", "10,20,30", "--workers", "1", "--csv", self.path("out.csv"), *fake("--fail-at", "30"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed with exit status 3 (1 worker, size 30)", result.stderr)
        self.assertIn("\n  line 99\n", result.stderr)
        self.assertNotIn("line 70", result.stderr)
        self.assertEqual(len(self.rows()), 2)

    def test_files_stay_as_they_are_when_nothing_is_measured(self):
        with open(self.path("out.csv"), "w", encoding="utf-8") as file:
            file.write("older\n")
        result = run("--values", "10", "--csv", self.path("out.csv"), *fake("--fail-at", "10"))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.read("out.csv"), "older\n")


class Mistakes(unittest.TestCase):
    def expect(self, status, arguments, *parts):
        result = run(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_in_the_command(self):
        self.expect(2, [], "no program", "{name}")
        self.expect(2, ["--values", "1", "--", "heat"], "no {name} among the arguments of 'heat'")
        self.expect(2, ["--values", "1", "--", "heat", "{a}", "{b}"], "'{a}' and '{b}'")
        self.expect(2, ["--values", "1", "--", "/no/such/program", "{a}"], "cannot run '/no/such/program': No such file")
        self.expect(2, ["--values", "1", "heat", "--size", "{a}"], "unknown option '--size'", "-- PROGRAM ARGUMENT")

    def test_in_options(self):
        self.expect(2, ["--vlaues", "1", "--", "heat", "{a}"], "unknown option '--vlaues'", "did you mean '--values'?")
        self.expect(2, ["--values", "1,x", "--", "heat", "{a}"], "--values is 'x'; accepted: a whole number")
        self.expect(2, ["--from", "1", "--", "heat", "{a}"], "--to is missing")
        self.expect(2, ["--", "heat", "{a}"], "the grains are missing")
        self.expect(2, ["--from", "9", "--to", "1", "--", "heat", "{a}"], "--from is 9, --to is 1")
        self.expect(2, ["--values", "1", "--to", "2", "--", "heat", "{a}"], "--values beside --from")
        self.expect(2, ["--values", "1", "--workers", "1,two", "--", "heat", "{a}"], "--workers is 'two'")
        self.expect(2, ["--values", "1", "--per-decade", "99", "--", "heat", "{a}"], "--per-decade")
        self.expect(2, ["--values", "1", "--repetitions", "0", "--", "heat", "{a}"], "--repetitions")
        for wrong in ("0", "soon", "-1"):
            self.expect(2, ["--values", "1", f"--timeout={wrong}", "--", "heat", "{a}"], f"--timeout is '{wrong}'; accepted: seconds")
        self.expect(2, ["--values", "1", "--html", "/no/such/file", "--", "heat", "{a}"], "--html is '/no/such/file'")
        self.expect(2, ["--values", "1", "--time", "(", "--", "heat", "{a}"], "--time is '('", "regular expression")
        self.expect(2, ["--values", "1", "--time", "s", "--", "heat", "{a}"], "--time is 's'", "one group")

    def test_in_the_program(self):
        self.expect(1, ["--values", "1", "--", "true", "{a}"], "'true' has written no counters", "a program on Quern")
        self.expect(1, ["--values", "1", *fake("--workers", "5")], "ran on 5 workers where 1 were asked for", "QUERN_THREADS")
        self.expect(1, ["--values", "1", *fake("--garbage")], "counters.json:1: not a line of counters")
        self.expect(1, ["--values", "1", "--time", "never ([0-9]+)", *fake()], "--time matches nothing")
        self.expect(1, ["--values", "1", "--", "sh", "-c", "kill -SEGV $$ # {a}"], "signal 11 (Segmentation fault)")


class Start(WithFolder):
    """`quern` becomes the Python package; these are the ways in which that can fail."""

    def installed(self, *more):
        """Status, output and errors of a copy of the command, installed without the rest of Quern."""
        os.makedirs(self.path("bin"), exist_ok=True)
        shutil.copy(QUERN, self.path("bin/quern"))
        result = subprocess.run([self.path("bin/quern"), "grain", *more], capture_output=True, text=True, timeout=180, check=False,
                                env=ENVIRONMENT)
        return result.returncode, result.stdout, result.stderr

    def test_says_that_python_is_missing(self):
        result = run("--help", PATH=self.folder)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("needs python3 (3.11 or newer) in PATH, which cannot be started: No such file", result.stderr)

    def test_says_that_the_package_is_missing(self):
        status, _, err = self.installed("--help")
        self.assertEqual(status, 1)
        self.assertIn(f"there is no '{self.path('share/quern/study')}'", err)

    def test_finds_the_package_beside_itself(self):
        shutil.copytree(os.path.dirname(FAKE), self.path("share/quern/study"), ignore=shutil.ignore_patterns("__pycache__"))
        status, out, err = self.installed("--values", "10", "--workers", "1", "--repetitions", "1", *fake())
        self.assertEqual(status, 0, err)
        self.assertIn("best, 1 worker: size 10", out)
        left = [name for _, folders, _ in os.walk(self.path("share")) for name in folders if name == "__pycache__"]
        self.assertEqual(left, [])

    def test_is_not_led_astray_by_the_environment(self):
        with open(self.path("json.py"), "w", encoding="utf-8") as file:
            file.write("raise RuntimeError")
        self.study("--values", "10", "--workers", "1", *fake(), PYTHONPATH=self.folder, PYTHONHOME="/no/such/folder")

    def test_gives_the_environment_on_as_it_is(self):
        for value in ("C", "C.UTF-8", ""):  # for itself, Python would change the first
            result = run("--values", "1", "--", "sh", "-c", "echo is $LC_CTYPE.; exit 1 # {a}", LC_ALL="", LC_CTYPE=value)
            self.assertIn(f"\n  is {value}.\n", result.stderr)

    def test_hands_settings_of_the_runtime_over(self):
        result = self.study("--values", "10", "--workers", "all", "--repetitions", "1", "--quern:threads=3", *fake())
        self.assertIn("\n3 workers\n", result.stdout)
        self.assertEqual(run("--values", "10", "--quern:threads=x", *fake()).returncode, 2)
        self.assertIn("QUERN_THREADS", run("--values", "10", *fake(), QUERN_THREADS="x").stderr)
        self.assertEqual(run("--help", QUERN_THREADS="x").returncode, 0)

    def test_means_a_program_beside_it(self):
        result = run("--values", "1", "--", os.path.basename(QUERN), "{a}")
        self.assertIn(f"did you mean '{os.path.realpath(QUERN)}'?", result.stderr)

    def test_keeps_bytes_that_are_no_text(self):
        result = subprocess.run([QUERN.encode(), b"grain", b"--values", b"1", b"--", b"sh", b"-c", b"echo '\xfe'; exit 1 # {a}"],
                                capture_output=True, timeout=180, check=False, env=ENVIRONMENT)
        self.assertIn(b"\n  \xfe\n", result.stderr)


@unittest.skipUnless(HEAT, "without a program on Quern")
class RealProgram(WithFolder):
    def test_is_studied(self):
        self.study("--values", "1000,2000,5000", "--workers", "1,2", "--repetitions", "1", "--csv", self.path("out.csv"), "--",
                   HEAT, "--points", "100000", "--steps", "10", "--partition", "{partition}")
        rows = self.rows()
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertGreaterEqual(float(row["tasks"]), 1e6 / float(row["partition"]))
            self.assertGreater(float(row["duration_us"]), 0)
            self.assertGreater(float(row["uptime_s"]), 0)
        self.assertNotEqual(rows[3]["wait_s"], "")


if __name__ == "__main__":
    unittest.main()
