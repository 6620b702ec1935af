#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Starts the jobs of ends_program.cpp, which end by an error of one rank: the starter must return with a status other than 0
within seconds, the words must be there, and no process may be left.

Usage: check_ends.py <program> <the same, built otherwise> <starter> [its options...] [-- case...]"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 40  # for a job that ends within seconds, on a machine that has much else to do
RANKS = 3
TOKEN = f"quern-test-ends-{os.getpid()}"  # an argument of all ranks

# By case: a pattern of what the job says.
CASES = {
    "throw": r"this rank gives up",
    "throw-waiting": r"this rank gives up",
    "throw-asleep": r"this rank gives up",
    "throw-posted": r"post_to.*nothing waits for this",
    "exit": r"this rank leaves",
    "killed": r"rank 2 is ready",
    "name": r"locality 2 has waited for 10 s for .* name 'mehs', which is not published; accepted: mesh; did you mean 'mesh'\?",
    "pinned": r"locality 2 has waited for 10 s at the end of the session for 1 pinned object, of object::pin\(\)",
    "collective": r"a collective operation 0x[0-9a-f]+: all_reduce 0 of 'residual': locality 2 has not sent",
    "meet-again": r"MPI has been finalised, by the program or by the end of a session",
    "other-program": r"locality 1 runs another program than locality 0 \(build ids [0-9a-f]+ and [0-9a-f]+\)",
}


def left_behind():
    """The processes of this test's jobs that still run."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if TOKEN.encode() in words:
                found.append(int(folder.name))
    return found


def end_all(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def wait_until(condition, limit):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Job:
    """A job in the background, which writes to a file, so that nothing waits for a reader."""

    def __init__(self, command):
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)

    def text(self):
        """Read without seek(): the place in the file is also that at which the job writes."""
        file = self.output.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def ends_within(self, limit):
        return wait_until(lambda: self.process.poll() is not None, limit)


def kill_last_rank(job):
    """As soon as all ranks have said that they are ready."""
    wait_until(lambda: job.text().count("is ready") == RANKS or job.process.poll() is not None, LIMIT_S)
    found = re.search(rf"rank {RANKS - 1} is ready: (\d+)", job.text())
    if found:
        time.sleep(0.2)  # the others call it
        os.kill(int(found[1]), signal.SIGKILL)


def check(name, program, other, starter):
    """What is wrong, as lines."""
    words = ["-n", str(RANKS), program, name, TOKEN]
    if name == "other-program":
        words = ["-n", "1", program, "meet", TOKEN, ":", "-n", "1", other, "meet", TOKEN]
    job = Job([*starter, *words])
    faults = []
    if name == "killed":
        kill_last_rank(job)
    if not job.ends_within(LIMIT_S):
        faults.append(f"the job has not ended after {LIMIT_S} s")
        job.process.terminate()
        job.process.wait()
    elif job.process.returncode == 0:
        faults.append("the status is 0")
    if not wait_until(lambda: not left_behind(), 10):
        faults.append(f"processes are left: {left_behind()}")
        end_all(left_behind())
    if not re.search(CASES[name], job.text(), re.DOTALL):
        faults.append(f"it does not say '{CASES[name]}'")
    return faults + ([job.text()] if faults else [])


def main():
    words, cases = sys.argv[1:], list(CASES)
    if "--" in words:
        at = words.index("--")
        words, cases = words[:at], words[at + 1:]
    program, other, *starter = words
    unknown = [name for name in cases if name not in CASES]
    if unknown:
        sys.exit(f"check_ends.py: no case is called {unknown}; there are {list(CASES)}")
    bad = 0
    for name in cases:
        begun = time.monotonic()
        faults = check(name, program, other, starter)
        print(f"{'bad ' if faults else 'good'} {name} ({time.monotonic() - begun:.1f} s)", *faults, sep="\n", flush=True)
        bad += bool(faults)
    sys.exit(1 if bad else 0)


main()
