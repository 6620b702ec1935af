# SPDX-License-Identifier: BSL-1.0
"""Runs the command `quern` as a user would, on synthetic trees and on this computer. Usage: test_quern.py <path of quern>"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

QUERN = sys.argv.pop()
SUBCOMMANDS = ["info", "top", "tasks", "counters", "decisions", "run", "trace", "tune", "grain", "cc", "c++"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("HWLOC_", "QUERN_"))}


def run(*arguments, **variables):
    return subprocess.run([QUERN, *arguments], capture_output=True, text=True, errors="strict", timeout=120,
                          check=False, env={**ENVIRONMENT, **variables})


class Tree:
    """A synthetic computer: four CPUs, three of them allowed, and a control group with a quota of one and a half CPUs."""

    FILES = {
        "sys/devices/system/cpu/online": "0-3",
        "sys/fs/cgroup/app/cpu.max": "150000 100000",
        "proc/self/cgroup": "0::/app",
        "proc/self/mountinfo": "31 22 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
        "proc/self/status": "Cpus_allowed_list:\t0-2",
        "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0",
        "sys/class/powercap/intel-rapl:0/energy_uj": "12345",
    }

    def __init__(self, **changes):
        self.folder = tempfile.TemporaryDirectory()
        for name, content in {**self.FILES, **changes}.items():
            path = os.path.join(self.folder.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())

    def __enter__(self):
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()


class Info(unittest.TestCase):
    def test_has_its_sections(self):
        result = run("info")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        titles = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
        self.assertRegex(titles[0], r"^Quern \d+\.\d+\.\d+$")
        self.assertEqual(titles[1:], ["machine", "limits", "workers", "settings, and where each is from", "available",
                                      "unavailable, and why"])

    def test_json_says_the_same(self):
        answer = json.loads(run("info", "--json").stdout)
        self.assertEqual(answer["workers"]["count"], answer["limits"]["effective_cpus"])
        self.assertIn(answer["workers"]["why"], run("info").stdout)
        self.assertIn("hardware counters", {feature["name"] for feature in answer["features"]})
        self.assertNotIn("binding", answer)

    def test_explains_an_invented_quota(self):
        with Tree() as root:
            answer = json.loads(run("info", "--json", "--root", root).stdout)
            self.assertEqual(answer["limits"]["quota"]["cpus"], 1.5)
            self.assertEqual(answer["workers"]["count"], 2)
            self.assertEqual(answer["workers"]["decided_by"], "cgroup quota")
            features = {feature["name"]: feature["available"] for feature in answer["features"]}
            self.assertTrue(features["energy"])
            self.assertTrue(features["pressure stall information"])
            self.assertIn("grants 1.5 CPUs", run("info", "--root", root).stdout)

    def test_survives_broken_files(self):
        with Tree(**{name: b"\xff\x00\"\\\n\x1b[2J" * 50 for name in Tree.FILES}) as root:
            for arguments in [("info", "--json"), ("info",)]:
                result = run(*arguments, "--root", root)
                self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(run("info", "--json", "--root", root).stdout)
            self.assertEqual(answer["workers"]["count"], 1)
            self.assertIn("unavailable", answer["limits"]["quota"])
            self.assertTrue(answer["limits"]["notes"])

    def test_binding_of_every_policy(self):
        with Tree() as root:
            binding = json.loads(run("info", "--json", "--binding", "--workers", "4", "--root", root).stdout)["binding"]
        self.assertEqual(list(binding), ["none", "compact", "scatter", "balanced", "numa-balanced"])
        self.assertEqual(binding["compact"], [0, 1, 2, 0])

    def test_binding_to_a_list(self):
        with Tree() as root:
            one = run("info", "--json", "--binding=2,0", "--workers", "3", "--root", root)
            self.assertEqual(json.loads(one.stdout)["binding"], {"list": [2, 0, 2]})
            refused = json.loads(run("info", "--json", "--binding=3", "--root", root).stdout)
            self.assertIn("names CPU 3", refused["binding"]["list"]["unavailable"])

    def test_a_synthetic_machine(self):
        if json.loads(run("info", "--json").stdout)["machine"]["source"] != "hwloc":
            self.skipTest("this build has no hwloc")
        answer = json.loads(run("info", "--json", HWLOC_SYNTHETIC="pack:2 core:4 pu:2").stdout)
        self.assertEqual(answer["workers"]["count"], 16)
        self.assertEqual(answer["machine"]["source"], "synthetic")
        broken = run("info", HWLOC_SYNTHETIC="packs:2")
        self.assertEqual(broken.returncode, 1)
        self.assertIn("HWLOC_SYNTHETIC", broken.stderr)


class Shared(unittest.TestCase):
    """The files installed beside the command know all of its subcommands and options."""

    FOLDER = pathlib.Path(__file__).parent / "share"

    def options_of(self, subcommand):
        text = run(*subcommand, "--help").stdout.partition("Examples:")[0]
        return set(re.findall(r"(?m)^ +(?:-\w,)?(--[a-z-]+)", text)) - {"--help", "--version"}

    def test_manual_page(self):
        page = (self.FOLDER / "quern.1.in").read_text(encoding="utf-8").replace("\\-", "-")
        sections = dict(zip(*[iter(re.split(r"(?m)^\.S[SH] (\w+).*$", page)[1:])] * 2))
        sections["c++"] = sections["cc"]
        for subcommand in SUBCOMMANDS:
            self.assertEqual(set(re.findall(r"(--[a-z-]+)", sections[subcommand])), self.options_of([subcommand]), subcommand)

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_completion(self):
        def complete(*words):
            script = f"source '{self.FOLDER}/quern.bash'; COMP_WORDS=({' '.join(words)} ''); COMP_CWORD={len(words)}; " \
                     "[[ $1 ]] && COMP_WORDS[COMP_CWORD]=$1; _quern; echo \"${COMPREPLY[@]}\""
            return lambda word="": set(subprocess.run(["bash", "-c", script, "bash", word], capture_output=True, text=True,
                                                      check=True).stdout.split())
        self.assertEqual(complete("quern")() - {"--help", "--version"}, set(SUBCOMMANDS))
        for subcommand in SUBCOMMANDS:
            self.assertEqual(complete("quern", subcommand)("--") - {"--help"}, self.options_of([subcommand]), subcommand)
        policies = run("info", "--quern:policy=none").stderr.partition("accepted: ")[2].splitlines()[0]
        self.assertEqual(complete("quern", "run", "--policy")(), set(policies.split(", ")))
        self.assertEqual(complete("quern", "counters")("r"), {"read"})


class Settings(unittest.TestCase):
    DEFAULTS = {"threads": "auto", "policy": "work-stealing", "bind": "none", "stack": "medium",
                "active-workers": "all", "spin-us": "50", "wake-fanout": "2", "steal-batch": "auto",
                "hang-report": "certain", "spare-threads": "64", "live-tasks": "10000", "renaming-bytes": "256M", "locality-bytes": "128k", "check-accesses": "off", "crash-report": "on", "config": "",
                "print-counter": "",
                "print-counter-interval": "none", "print-counter-destination": "stdout",
                "print-counter-format": "text", "print-counter-at": "shutdown", "list-counters": "no",
                "metrics-port": "none", "trace-counters": "", "live": "on", "live-folder": "", "profile": "", "calibration": "", "trace": "", "report": "", "graph": "",
                "trace-events": "1000000", "trace-sample": "auto",
                "task-events": "", "adapt": "on", "decisions": "", "tune-history": "",
                "launch": "async", "inlining": "quern"}

    def settings(self, *arguments, **variables):
        result = run("info", "--json", *arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_are_defaults_when_nobody_says_anything(self):
        expected = {name: {"value": value, "origin": "default"} for name, value in self.DEFAULTS.items()}
        self.assertEqual(self.settings()["settings"], expected)

    def test_have_origins(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("\nthreads = 5\nstack = 'small'\nspin_us = 9\n")
            file.flush()
            sources = (["--quern:threads=3"], {"QUERN_CONFIG": file.name, "QUERN_SPIN_US": "8"})
            answer = self.settings(*sources[0], **sources[1])
            self.assertEqual(answer["workers"]["count"], 3)
            self.assertEqual(answer["workers"]["decided_by"], "request")
            expected = {"threads": ("3", "command line"), "stack": ("small", f"file {file.name}:3"),
                        "spin-us": ("8", "environment QUERN_SPIN_US"), "policy": ("work-stealing", "default"),
                        "config": (file.name, "environment QUERN_CONFIG")}
            text = run("info", *sources[0], **sources[1]).stdout
        for name, (value, origin) in expected.items():
            self.assertEqual(answer["settings"][name], {"value": value, "origin": origin})
            self.assertRegex(text, rf"(?m)^  {name} +{re.escape(value)} +{re.escape(origin)}$")

    def test_yield_to_the_option_workers(self):
        self.assertEqual(self.settings("--workers", "2", QUERN_THREADS="3")["workers"]["count"], 2)
        self.assertFalse(self.settings("--workers", "0", QUERN_THREADS="3")["workers"]["requested"])

    def test_help(self):
        for arguments in [("--quern:help",), ("info", "--quern:help")]:
            result = run(*arguments, QUERN_THREADS="0")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--quern:threads=VALUE", result.stdout)


class Mistakes(unittest.TestCase):
    def expect(self, arguments, *parts, **variables):
        result = run(*arguments, **variables)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_name_the_nearest_match(self):
        self.expect(["ifno"], "unknown subcommand 'ifno'", "did you mean 'info'?")
        self.expect(["--vresion"], "unknown option '--vresion'", "did you mean '--version'?")
        self.expect(["info", "--jsno"], "quern info: unknown option '--jsno'", "did you mean '--json'?")
        self.expect(["info", "--workrs=3"], "did you mean '--workers'?")
        self.expect(["info", "--binding=scater"], "did you mean 'scatter'?")

    def test_are_never_ignored(self):
        self.expect(["info", "more"], "unexpected argument 'more'")
        self.expect(["info", "--workers", "many"], "--workers", "many")
        self.expect(["info", "--workers", "-1"], "--workers")
        self.expect(["info", "--json=3"], "json")
        self.expect(["info", "--root", "/no/such/folder"], "/no/such/folder")

    def test_in_settings(self):
        self.expect(["info", "--quern:thread=2"], "quern: unknown option --quern:thread=2", "'--quern:threads'?")
        self.expect(["info", "--quern:threads=0"], "quern: threads is '0' (command line); accepted: a whole number")
        self.expect(["info"], "policy is 'foo' (environment QUERN_POLICY)", QUERN_POLICY="foo")
        self.expect(["info"], "QUERN_THREAD;", "did you mean 'QUERN_THREADS'?", QUERN_THREAD="2")
        self.expect(["info"], "'/no/such.toml'", "No such file", QUERN_CONFIG="/no/such.toml")

    def test_in_merging(self):
        self.expect(["trace"], "request")
        self.expect(["trace", "marge"], "quern trace: unknown request 'marge'", "did you mean 'merge'?")
        self.expect(["trace", "merge"], "no trace is named; for instance: quern trace merge run.*.pftrace -o job.pftrace")
        self.expect(["trace", "merge", "a"], "--output is missing")
        self.expect(["trace", "merge", "a", "-o"], "--output")
        self.expect(["trace", "merge", "a", "-o", "b", "--partail"], "'--partail'", "did you mean '--partial'?")
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "text")
            with open(text, "w", encoding="utf-8") as file:
                file.write("no trace")
            self.expect(["trace", "merge", text, "-o", text], "is one of the traces")
            for arguments, part in (([os.path.join(folder, "none")], "none' cannot be read: No such file or directory"),
                                    ([text], "text' is no trace of Perfetto's format")):
                result = run("trace", "merge", *arguments, "-o", os.path.join(folder, "job"))
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(part, result.stderr)
            self.assertEqual(os.listdir(folder), ["text"])

    def test_no_subcommand_is_help_and_an_error(self):
        self.expect([], "Usage:", "info")


class Help(unittest.TestCase):
    def test_has_examples(self):
        for arguments in [("--help",), ("info", "--help")]:
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Examples:", result.stdout)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^quern \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
