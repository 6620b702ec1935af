# SPDX-License-Identifier: BSL-1.0
"""Queries running programs as a user would. Usage: test_live.py <path of quern> <a program to query> <gdb script>"""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from live_program import ANYWHERE, ENVIRONMENT, HOME, PATIENCE, PROGRAM, QUERN, program, run

GDB_SCRIPT = sys.argv.pop(1)


class Top(unittest.TestCase):
    def test_once(self):
        with program() as child:
            for arguments in [(), (str(child.pid),), (os.path.basename(PROGRAM),)]:
                result = run("top", *arguments, "--once", "--interval", "100")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn(f"({child.pid})", result.stdout.splitlines()[0])
                self.assertRegex(result.stdout, r"pool default, work-stealing: 2 of 2 workers active")
                self.assertRegex(result.stdout, r"(?m)^ +[01] +running .* grinder: .*test_program.cpp:\d+")
                self.assertRegex(result.stdout, r", (\d+\.\d W|power unavailable \([^()]+.*\)), over 0\.\d s\n")
                self.assertRegex(result.stdout, r"(?m)^  time  tasks\n +\d+\.\d %  grinder: .*test_program.cpp:\d+$")
                self.assertRegex(result.stdout, r"\n\n +at  decisions\n +\d.*s  tester: tile 32 -> 64: it is a test \[idle-rate 12 %\]\n$")

    def test_json(self):
        with program() as child:
            answer = json.loads(run("top", "--json", "--interval", "100").stdout)
            self.assertEqual(answer["pid"], child.pid)
            pool = answer["pools"][0]
            self.assertEqual((pool["name"], len(pool["workers"]), pool["suspended"] > 0), ("default", 2, True))
            self.assertGreater(answer["resident_bytes"], 0)
            self.assertTrue(answer.get("power_watts", 0) > 0 or answer["power_unavailable"])
            self.assertEqual([each["text"] for each in answer["decisions"]], ["tester: tile 32 -> 64: it is a test [idle-rate 12 %]"])

    def test_samples_what_runs(self):
        with program():
            sites = json.loads(run("top", "--json", "--interval", "600").stdout)["sites"]
            self.assertEqual(sites[0]["name"], "grinder")  # it has one of two workers to itself
            self.assertRegex(sites[0]["place"], r"test_program.cpp:\d+")
            self.assertTrue(0.3 < sites[0]["share"] <= 0.5, sites)
            shares = [site["share"] for site in sites]
            self.assertEqual(shares, sorted(shares, reverse=True))

    def test_ends_with_the_program(self):
        with program() as child:
            top = subprocess.Popen([QUERN, "top", "--interval", "50"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=ENVIRONMENT)
            top.stdout.readline()
        self.assertIn("pool default", top.stdout.read())
        self.assertIn(f"program {child.pid} has ended", top.stderr.read())
        self.assertEqual(top.wait(), 1)
        top.stdout.close()
        top.stderr.close()

    def test_on_a_screen(self):
        with program():
            pid, terminal = pty.fork()
            if pid == 0:
                os.execve(QUERN, [QUERN, "top", "--interval", "100"], {**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "140", "LINES": "30"})
            seen = b""
            for key, expected in [(b"", b"grinder"), (b"s", b"tasks/s  p pause"), (b"?", b"this help, or back"), (b"q", None)]:
                os.write(terminal, key)
                deadline = time.monotonic() + PATIENCE
                while expected is not None and expected not in seen and time.monotonic() < deadline:
                    if select.select([terminal], [], [], 0.1)[0]:
                        seen += os.read(terminal, 4096)
                if expected is not None:
                    if b"\x1b[" not in seen:  # frame after frame
                        os.kill(pid, signal.SIGTERM)
                        os.waitpid(pid, 0)
                        self.skipTest("this build has no curses")
                    self.assertTrue(expected in seen, f"{expected} is not shown")
            with contextlib.suppress(OSError):  # the end of a terminal
                while os.read(terminal, 4096):
                    pass
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            os.close(terminal)


class Tasks(unittest.TestCase):
    def test_say_what_they_wait_for(self):
        with program():
            self.assertRegex(run("tasks").stdout, r"task 'waiter' waits \d+\.\d s for event 0x[0-9a-f]+: not set")


class Decisions(unittest.TestCase):
    def test_are_shown_with_their_reasons(self):
        with program():
            lines = run("decisions").stdout.splitlines()
            self.assertRegex(lines[0], r"^ +\d.*s  tester: tile 32 -> 128: trial 1$")
            self.assertRegex(lines[1], r"^ +\d.*s  tester: tile 32 -> 64: it is a test \[idle-rate 12 %\]$")
            answer = json.loads(run("decisions", "--json").stdout)
            self.assertEqual([(each["policy"], each["after"], each["applied"]) for each in answer["decisions"]], [("tester", 128, True), ("tester", 64, True)])


class Counters(unittest.TestCase):
    def test_list_and_describe(self):
        with program():
            self.assertIn("/threads/time/average\n", run("counters", "list").stdout)
            self.assertIn("/threads{locality#0/total}/time/average\n", run("counters", "list", "/threads/time/*").stdout)
            self.assertRegex(run("counters", "describe", "/threads/time/average").stdout, r"ratio, ns: \w+")
            self.assertIn("/statistics{COUNTER}/max@INTERVAL,WINDOW,RESET\n", run("counters", "list").stdout)
            self.assertIn("add@COUNTER,COUNTER\n    level: the sum", run("counters", "describe", "/arithmetics").stdout)
            self.assertEqual(run("counters", "describe", "/statistics{/runtime/uptime}/rolling_max@10").stdout,
                             "/statistics{/runtime/uptime}/rolling_max@10\n    level: the greatest sample in the window\n")
            self.assertIn("did you mean 'stddev'?", run("counters", "describe", "/statistics/stdev").stderr)

    def test_read(self):
        with program() as child:
            result = run("counters", "read", str(child.pid), "/threads/count/cumulative", "--format", "csv")
            self.assertRegex(result.stdout, r"^/threads\{locality#0/total\}/count/cumulative,1,")
            lines = run("counters", "read", "/threads/count/cumulative", "--interval", "20", "--count", "3",
                        "--format", "json", "--since-last").stdout.splitlines()
            self.assertEqual([json.loads(line)["sequence"] for line in lines], [1, 2, 3])

    def test_what_counts_from_the_first_look(self):
        def task_clock():
            return json.loads(run("counters", "read", "/os/schedule/task-clock", "--format", "json").stdout)["counters"][0]

        with program():
            first = task_clock()
            self.assertNotEqual(first["state"], "ok")
            if "ask again" not in first["why"]:
                self.skipTest(first["why"])
            time.sleep(0.05)
            later = task_clock()
            self.assertEqual(later["state"], "ok")
            self.assertGreater(later["value"], 0)

    def test_statistics_have_samples(self):
        with program():
            value = json.loads(run("counters", "read", "/statistics{/runtime/uptime}/max@10", "--format", "json").stdout)["counters"][0]
            self.assertEqual((value["state"], value["why"]), ("ok", ""))
            lines = run("counters", "read", "/arithmetics/add@/statistics{/runtime/uptime}/max@20,/statistics{/runtime/uptime}/min@20",
                        "--format", "json", "--interval", "30", "--count", "4").stdout.splitlines()
            values = [json.loads(line)["counters"][0]["value"] for line in lines]
            self.assertTrue(all(values) and values == sorted(values) and values[0] < values[-1], values)
            result = run("counters", "read", "/statistics{/runtime/uptime}/max@60000")
            self.assertEqual(result.returncode, 2)
            self.assertIn("waits no longer than 10000 ms", result.stderr)

    def test_read_until_it_ends(self):
        for count, status in [((), 0), (("--count", "1000000"), 1)]:
            with program() as child:
                reader = subprocess.Popen([QUERN, "counters", "read", str(child.pid), "/runtime/uptime", "--interval", "20", *count],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
                reader.stdout.readline()
            self.assertIn("has ended" if status else "", reader.communicate(timeout=PATIENCE)[1])
            self.assertEqual(reader.returncode, status)

    def test_mistakes(self):
        with program():
            for arguments, status, part in [(("raed",), 2, "did you mean 'read'?"), (("read",), 2, "read wants the counters"),
                                            (("read", "/threads/nothing"), 1, "no counter is called '/threads/nothing'"),
                                            (("read", "/threads/*", "--format", "cvs"), 2, "did you mean 'csv'?"),
                                            (("list", "--interval", "5"), 2, "only for read")]:
                result = run("counters", *arguments)
                self.assertEqual(result.returncode, status, arguments)
                self.assertIn(part, result.stderr)
                self.assertLessEqual(result.stderr.count("quern: "), 1, result.stderr)


class Help(unittest.TestCase):
    def test_has_examples_of_each_subcommand(self):
        seen = set()
        for subcommand in ["info", "top", "tasks", "counters", "decisions", "run", "tune", "grain"]:
            examples = run(subcommand, "--help").stdout.partition("Examples:\n")[2]
            commands = re.findall(r"(?m)^  .*\bquern (\w+)", examples)
            self.assertEqual(set(commands), {subcommand}, examples)
            seen.add(examples)
        self.assertEqual(len(seen), 8)


class Run(unittest.TestCase):
    def test_sets_variables(self):
        result = run("run", "--threads", "3", "--counters", "/threads/*", "--destination", "x.txt", "--task-events",
                     "page-faults", "--trace-counters", "/runtime/uptime", "--profile", "--", "/usr/bin/env")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in ["QUERN_THREADS=3", "QUERN_PRINT_COUNTER=/threads/*", "QUERN_PRINT_COUNTER_DESTINATION=x.txt",
                     "QUERN_TASK_EVENTS=page-faults", "QUERN_TRACE_COUNTERS=/runtime/uptime", "QUERN_PROFILE=stderr"]:
            self.assertIn(line, result.stdout.splitlines())

    def test_calibrates_on_one_worker(self):
        result = run("run", "--calibrate", "--", "/usr/bin/env")
        self.assertIn("QUERN_THREADS=1\n", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^QUERN_CALIBRATION=/.*/env\.quern-calibration$")
        self.assertRegex(result.stderr, r"kept in '/.*/env\.quern-calibration'\n$")

    def test_says_nothing_of_a_program_that_cannot_start(self):
        for program, why in [("./no-such-program", "No such file"), ("/tmp", "Permission denied")]:
            result = run("run", "--calibrate", "--", program)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"'{program}' cannot be started: {why}", result.stderr)
            self.assertNotIn("kept in", result.stderr)

    def test_is_the_program(self):
        result = run("run", "--", "/bin/sh", "-c", "echo $1 --quern:x=1; exit 7", "sh", "--json")
        self.assertEqual((result.returncode, result.stdout), (7, "--json --quern:x=1\n"))

    def test_mistakes(self):
        for arguments, status, part in [((), 2, "the program is missing"), (("--", "no-such-program"), 1, "in PATH"),
                                        (("--threads", "x", "--", "env"), 2, "threads is 'x' (option --threads)"),
                                        (("--trcae", "x", "--", "env"), 2, "did you mean '--trace'?")]:
            result = run("run", *arguments)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(part, result.stderr)


class Programs(unittest.TestCase):
    def expect(self, arguments, status, *parts, **variables):
        result = run(*arguments, **variables)
        self.assertEqual((result.returncode, result.stdout), (status, ""))
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_of_two_one_must_be_named(self):
        with program() as one, program() as other:
            self.expect(["top"], 2, "there are 2 programs", str(one.pid), str(other.pid), PROGRAM)
            self.expect(["tasks", os.path.basename(PROGRAM)], 2, "there are 2 programs")
            self.assertEqual(run("tasks", str(one.pid)).returncode, 0)

    def test_that_cannot_be_looked_into(self):
        self.expect(["top"], 1, "no program of this user can be looked into")
        self.expect(["top", str(os.getpid())], 1, "does not use Quern")
        with program(QUERN_LIVE="off") as child:
            self.expect(["tasks", str(child.pid)], 1, "the setting live is off")
        self.expect(["tasks", str(child.pid)], 1, "there is no program")
        with program() as child:
            name = os.path.basename(PROGRAM)
            self.expect(["top", name + "x"], 2, f"did you mean '{name}'?")

    def test_that_has_another_runtime_directory(self):
        with tempfile.TemporaryDirectory() as elsewhere, program(XDG_RUNTIME_DIR=elsewhere, **ANYWHERE) as child:
            self.assertEqual(run("tasks", str(child.pid), **ANYWHERE).returncode, 0)
            result = run("tasks", str(child.pid), XDG_RUNTIME_DIR="", **ANYWHERE)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.expect(["top", str(os.getpid())], 1, f"searched {HOME.name}/quern, ", f"/run/user/{os.getuid()}/quern",
                    f"/tmp/quern-{os.getuid()}", **ANYWHERE)

    def test_that_has_a_folder_of_its_own(self):
        with tempfile.TemporaryDirectory() as elsewhere, program(QUERN_LIVE_FOLDER=elsewhere) as child:
            self.expect(["top"], 1, "no program of this user can be looked into")
            self.assertEqual(run("tasks", QUERN_LIVE_FOLDER=elsewhere).returncode, 0)
            self.assertEqual(run("tasks", str(child.pid)).returncode, 0)  # as its environment says
            self.assertEqual(run("tasks", str(child.pid), **ANYWHERE).returncode, 0)
        self.expect(["top", str(os.getpid())], 1, f"searched {HOME.name}/live")
        result = subprocess.run([PROGRAM], capture_output=True, text=True, check=False, timeout=PATIENCE,
                                env={**ENVIRONMENT, "QUERN_LIVE_FOLDER": "here"})
        self.assertEqual(result.returncode, 2)
        self.assertIn("quern: live-folder is 'here' (environment QUERN_LIVE_FOLDER); accepted: an absolute path", result.stderr)

    @unittest.skipUnless(os.getuid() == 0, "only root may become somebody else")
    def test_of_another_user(self):
        somebody = 61_234
        folder = f"/tmp/quern-{somebody}"
        with contextlib.ExitStack() as stack:
            try:
                child = stack.enter_context(program(folder, {"user": somebody, "group": somebody, "extra_groups": []},
                                                    XDG_RUNTIME_DIR="/nowhere", **ANYWHERE))
            except PermissionError:
                self.skipTest("another user cannot run the program")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            for arguments in [("tasks", str(child.pid)), ("top", str(child.pid), "--once", "--interval", "50")]:
                result = run(*arguments, **ANYWHERE)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
            others = subprocess.run([QUERN, "tasks", str(os.getpid())], capture_output=True, text=True, check=False,
                                    env={**ENVIRONMENT, **ANYWHERE}, user=somebody, group=somebody, extra_groups=[])
            self.assertIn("belongs to user 0; only that user and root can look into it", others.stderr)

    def test_that_was_killed_has_ended(self):
        with program() as child:
            child.kill()
            child.wait()
            self.expect(["tasks", str(child.pid)], 1, f"program {child.pid} has ended")

    def test_of_another_version(self):
        with program():  # makes the folder
            pass
        path = f"{HOME.name}/live/1"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen()

            def answer():
                connected = server.accept()[0]
                connected.recv(100)
                connected.sendall(b'{"protocol":99,"version":"9.8.7"}\n')
                connected.close()

            thread = threading.Thread(target=answer)
            thread.start()
            self.expect(["tasks", "1"], 1, "uses Quern 9.8.7, which speaks protocol 99", "which speaks protocol 1")
            thread.join()
        os.unlink(path)


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class Gdb(unittest.TestCase):
    def test_shows_tasks_and_their_calls(self):
        with program() as child:
            result = subprocess.run(["gdb", "-nx", "-batch", "-p", str(child.pid), "-x", GDB_SCRIPT, "-ex", "quern tasks",
                                     "-ex", "quern bt all", "-ex", "quern bt 77"], capture_output=True, text=True,
                                    timeout=2 * PATIENCE, check=False, env=ENVIRONMENT)
            if "Operation not permitted" in result.stderr or "ptrace" in result.stderr:
                self.skipTest("this process may not attach a debugger")
            if "no debug information" in result.stderr:
                self.skipTest("this build has no debug information")
            self.assertRegex(result.stdout, r"#\d+ task 'waiter' of pool 'default' waits for", result.stderr)
            self.assertRegex(result.stdout, r"(?m)^#\d+ .*wait_for_the_end")
            self.assertRegex(result.stdout, r"#\d+ coroutine 'listener' of pool 'default' waits for event 0x")
            self.assertRegex(result.stdout, r"it goes on in .*listen")
            self.assertIn("'77' is no task; accepted: a number from 1 to", result.stderr)
            self.assertIn("task 'waiter'", run("tasks").stdout)  # the program runs as before


if __name__ == "__main__":
    unittest.main()
