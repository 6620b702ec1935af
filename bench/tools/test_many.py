# SPDX-License-Identifier: BSL-1.0
"""Packs builds of fake programs and runs the bundles as a user would, from a bundle's own copy of bench/many."""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

import fake_program

MANY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "many")


class Many(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def build(self, name, quern=("fib context", "reduce par"), value=2.0, **others):
        """A build directory; others: {runtime: its lines}."""
        for runtime, offered in {"quern": quern, **others}.items():
            offered = [line.replace("reduce", "alg_reduce") for line in offered]
            fake_program.write(self.path(name, "bench", "bin"), f"bench-{runtime}", offered, value)
        return self.path(name)

    def many(self, *arguments, status=0, script=MANY, **environment):
        done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False, timeout=100,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}, cwd=self.folder)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done

    def pack(self, name, *options, **build):
        self.build(name + "-build", **build)
        self.many("pack", "--build", self.path(name + "-build"), "--output", self.path(name), *options)
        return self.path(name)

    def change(self, bundle, before, after):
        """Changes the text of a bundle's fake of Quern."""
        path = self.path(bundle, "bench", "bin", "bench-quern")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))

    def run_it(self, *arguments, **more):
        """(lines that begin with a row or a contender, result)"""
        done = self.many("run", *arguments, "--output", self.path("results.json"), **more)
        with open(self.path("results.json"), encoding="utf-8") as file:
            return done.stdout, json.load(file)


class Packing(Many):
    def test_a_bundle_runs_from_its_own_script_and_has_the_programs_alone(self):
        a = self.pack("a", tbb=["fib task_group"])
        self.assertEqual(sorted(os.listdir(self.path("a", "bench", "bin"))), ["bench-quern", "bench-tbb"])
        said, _ = self.run_it(a, "--rows", "fib", "--workers", "1", script=self.path("a", "bench", "many"))
        self.assertIn("tbb/task_group", said)

    def test_an_archive_is_unpacked_for_the_run(self):
        a = self.pack("a.tar.gz", "--runtimes", "quern")
        with tarfile.open(a) as archive:
            self.assertIn("a/bench/many", archive.getnames())
        self.assertIn("quern/context", self.run_it(a, "--rows", "fib", "--workers", "1")[0])

    def test_an_archive_above_the_limit_is_refused_and_removed(self):
        build = self.build("build")
        with open(self.path("build", "bench", "bin", "bench-tbb"), "wb") as file:
            file.write(os.urandom(2_000_000))
        said = self.many("pack", "--build", build, "--output", self.path("x.tar.gz"), "--most-mib", "1", status=1).stderr
        self.assertIn("more than 1; leave runtimes out by --runtimes", said)
        self.assertFalse(os.path.exists(self.path("x.tar.gz")))

    def test_libraries_of_a_real_program_travel_but_those_of_glibc(self):
        build = self.build("build")
        os.makedirs(self.path("build", "bin"))
        os.symlink(os.path.realpath("/bin/ls"), self.path("build", "bin", "heat"))
        said = self.many("pack", "--build", build, "--output", self.path("a")).stdout
        self.assertRegex(said, r"needs glibc 2\.\d+")
        self.assertFalse([name for name in os.listdir(self.path("a", "lib")) if name.startswith(("libc.", "ld-", "libm."))])


class Running(Many):
    def test_the_first_bundle_the_second_and_the_peers_take_turns_and_every_other_round_goes_backwards(self):
        a, b = self.pack("a", quern=["fib context"], tbb=["fib task_group"]), self.pack("b", quern=["fib context"])
        for side in ("a", "b"):
            self.change(side, 'os.environ.get("FAKE_WORD", variant)', repr(side))
        self.run_it(a, b, "--rows", "fib", "--workers", "1", "--repetitions", "3", FAKE_LOG=self.path("log"))
        with open(self.path("log"), encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["a", "b", "task_group", "task_group", "b", "a"] * 2)

    def test_says_figures_ratio_and_the_best_peer(self):
        a, b = self.pack("a", value=2.0, quern=["fib context"]), self.pack("b", value=1.0, quern=["fib context"])
        fake_program.write(self.path("a", "bench", "bin"), "bench-tbb", ["fib task_group"], 4.0)
        with open(self.path("a", "bundle.json"), encoding="utf-8") as file:
            head = json.load(file)
        head["programs"].append("bench/bin/bench-tbb")
        with open(self.path("a", "bundle.json"), "w", encoding="utf-8") as file:
            json.dump(head, file)
        said, result = self.run_it(a, b, "--rows", "fib", "--workers", "2", "--repetitions", "3")
        line = next(line for line in said.splitlines() if line.startswith("fib "))
        self.assertEqual(" ".join(line.split()),
                         "fib 2 quern/context 2.02 s (2.00 s) 1.01 s (1.00 s) 0.5× (0.5 to 0.5) 3/3 0.5× 0.25× tbb/task_group")
        self.assertEqual([(g["row"], g["size"], g["workers"]) for g in result["groups"]], [("fib", 35, 2)])
        self.assertEqual([(r["contender"], r["side"]) for r in result["groups"][0]["results"]],
                         [("quern/context", "A"), ("quern/context [B]", "B"), ("tbb/task_group", "peer")])
        self.assertIn("glibc", result["machine"])
        self.assertIn(line, self.many("compare", self.path("results.json")).stdout)
        report = os.path.join(os.path.dirname(MANY), "report")
        self.assertIn("quern/context [B]", self.many(self.path("results.json"), script=report).stdout)

    def test_important_rows_come_first_with_the_most_workers_first_and_one_next(self):
        a = self.pack("a", quern=["fib context", "reduce par", "wake_latency async"])
        _, result = self.run_it(a, "--rows", "wake_latency,fib,reduce", "--workers", "1,2,4", "--repetitions", "1")
        self.assertEqual([(g["row"], g["workers"]) for g in result["groups"]],
                         [("reduce", 4), ("fib", 4), ("wake_latency", 4), ("reduce", 1), ("fib", 1), ("reduce", 2), ("fib", 2),
                          ("wake_latency", 2)])

    def test_rows_that_do_not_fit_are_told(self):
        a = self.pack("a", quern=["reduce par", "fib context", "fib plain"])
        self.change("a", "def repetition(turn, variant):", "def repetition(turn, variant):\n    time.sleep(1000)")
        said, result = self.run_it(a, "--workers", "1", "--limit", "2", "--rows", "reduce,fib")
        self.assertEqual(result["not_run"], [["fib", 1, "the time of the run was over"]])
        self.assertIn("not run, the time of the run was over:\n    1 worker: fib\n", said)
        self.assertEqual(result["groups"][0]["results"][0]["failure"], "not ended when the time of the run was over")
        self.assertLess(result["seconds"], 60)
        self.assertFalse(result["complete"])

    def test_a_long_warm_up_counts_if_it_is_long_in_both(self):
        a, b = self.pack("a", quern=["fib context"]), self.pack("b", quern=["fib context"])
        for sides, rounds in (("a", 1), ("b", 2)):
            self.change(sides, '"wall": 0.5', '"wall": 2.0')
            result = self.run_it(a, b, "--rows", "fib", "--workers", "1", "--repetitions", "1")[1]
            self.assertEqual([len(r["repetitions"]) for r in result["groups"][0]["results"]], [rounds, rounds])

    def test_a_wrong_answer_gets_no_figure(self):
        a, b = self.pack("a", quern=["mutex_contention mutex"]), self.pack("b", quern=["mutex_contention mutex"])
        self.change("b", 'variant == "wrong"', 'variant == "mutex"')
        said, result = self.run_it(a, b, "--rows", "mutex_contention", "--workers", "1", "--repetitions", "2")
        self.assertIn("B: wrong answer: fib is 3 and not 4", said)
        self.assertIn("Quern failed: mutex_contention quern/mutex [B]", said)
        self.assertEqual([len(r["repetitions"]) for r in result["groups"][0]["results"]], [2, 0])


class Peers(Many):
    def described(self, **entry):
        os.makedirs(self.path("peers"), exist_ok=True)
        with open(self.path("peers", "peers.json"), "w", encoding="utf-8") as file:
            json.dump({"lace": {entry.pop("row", "fib"): {"command": "sh ./fib.sh {workers} {size}", "value": "Time: (.*) ms",
                                                          "unit": "ms", **entry}}}, file)
        with open(self.path("peers", "fib.sh"), "w", encoding="utf-8") as file:
            file.write("echo \"fib($2) on $1 is 9227465\"; echo 'Time: 30 ms'\n")
        return self.path("peers")

    def test_programs_of_other_kinds_and_of_this_kind_run_beside_the_bundles(self):
        folder = self.described(check=r"fib\(35\) on 2 is 9227465")
        fake_program.write(folder, "bench-fast", ["fib fork"], 0.5)
        said, result = self.run_it(self.pack("a"), "--peers", folder, "--rows", "fib", "--workers", "2", "--repetitions", "2")
        medians = {r["contender"]: [x["value"] for x in r["repetitions"]] for r in result["groups"][0]["results"]}
        self.assertEqual((medians["lace/command"], medians["fast/fork"]), ([0.03, 0.03], [0.505, 0.51]))
        self.assertIn("lace/command", said)

    def test_their_answers_are_checked(self):
        folder = self.described(check="is 42")
        said, _ = self.run_it(self.pack("a"), "--peers", folder, "--rows", "fib", "--workers", "1", "--repetitions", "1")
        self.assertIn("wrong answer: 'is 42' is not in the output", said)

    def test_a_figure_that_is_no_number_fails_only_this_peer(self):
        said, result = self.run_it(self.pack("a"), "--peers", self.described(value="(Time): 30 ms"), "--rows", "fib", "--workers", "1",
                                   "--repetitions", "1")
        self.assertIn("printed no number: Time", said)
        self.assertTrue(result["complete"])

    def test_a_description_with_mistakes_is_refused(self):
        a = self.pack("a")
        for entry, words in (({"row": "fob"}, "'fob' is no row; accepted: copy_if, "), ({"row": "fob"}, "; did you mean 'fib'?"),
                             ({"chek": "x"}, "'chek' is no key; accepted: about, check, "), ({"value": "("}, "not a regular expression"),
                             ({"unit": "GB/s"}, "'GB/s' is no unit of time"), ({"command": "fib {n}"}, "'fib {n}' is no command"),
                             ({"command": ""}, "'' is no command"), ({"value": 3}, "'value' is 3; accepted: text"),
                             ({"row": "phase_change"}, "the row phase_change is no time")):
            self.assertIn(words, self.many("run", a, "--peers", self.described(**entry), status=1).stderr)


class Mistakes(Many):
    def damaged(self):
        with open(self.path("damaged.tar.xz"), "wb") as file:
            file.write(b"\xfd7zXZ\0\0\4" + bytes(64))
        return file.name

    def test_are_told_before_anything_runs(self):
        a = self.pack("a")
        for arguments, words in ((["run", a, "--rows", "uts_t2"], "'uts_t2' is no row; accepted: copy_if, "),
                                 (["run", a, "--rows", "uts_t2"], "; did you mean 'uts_t3'?"),
                                 (["run", self.path("aa")], "there is no such bundle; did you mean 'a'?"),
                                 (["run", self.folder], "is no bundle: it has no readable bundle.json"),
                                 (["run", a, "--peers", "none"], "--peers none: there is no such folder"),
                                 (["compare", self.path("a", "bundle.json")], "is no result of bench/many run"),
                                 (["pack", "--build", a + "x", "--output", "y"], "build it with scripts/build-preset bench"),
                                 (["pack", "--build", a, "--output", a], "exists; remove it, or choose another name"),
                                 (["pack", "--build", a, "--output", "y", "--runtimes", "tbbb"], "; did you mean 'tbb'?"),
                                 (["pack", "--build", a, "--output", "none/y.tar"], "none/y.tar: there is no folder none"),
                                 (["pack", "--build", a, "--output", "y", "--runtimes", "tbb"], "--runtimes without quern"),
                                 (["run", a, "--peers", self.folder], "it has neither programs bench-<runtime> that start nor"),
                                 (["run", self.damaged()], "is no archive that this Python reads"),
                                 (["build", a], "carries no sources: pack it with --sources")):
            said = self.many(*arguments, status=1).stderr
            self.assertIn("bench/many: ", said)
            self.assertIn(words, said)

    def test_a_machine_without_a_compiler_says_so(self):
        a = self.pack("a")
        with open(self.path("a", "sources.tar.gz"), "wb"):
            pass
        self.assertEqual(self.many("build", a, PATH="/none").stdout,
                         "nothing is built: this machine has no cmake, no ninja or make, no g++ or clang++\n")


if __name__ == "__main__":
    unittest.main()
