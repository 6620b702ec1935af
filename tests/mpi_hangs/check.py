#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Starts the cases of cases.cpp by `quern run -n 4`, and checks what it says of those that hang, and that it says nothing of the
others.

Usage: check.py <quern> <program of cases.cpp> <docs/mpi-running.md> [-n <times>] [case...]
With the variable TEST_HANGS_NET the ranks communicate over a network of that rate.
A job that must hang is ended by SIGTERM to `quern run` once its report has come."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 120
REPORT_WITHIN_S = 2  # from the last rank's word to the report, where each process has a processor when it wants one
RANKS = 4
END = "(--quern:hang-report=off keeps this quiet)\n"
HEADING = "quern: the job hangs: nothing runs in its 4 ranks, and no message is on its way to a call that waits\n"
BARRIER = "MPI_Barrier on MPI_COMM_WORLD"

# Patterns of lines that the report of a case has.
HANGS = {
    "wrong-tag": [
        r"rank 1: 1 task is suspended and 1 thread outside waits:",
        r"  #\d task 'exchange' waits \d\.\d s for MPI_Recv from rank 0 of MPI_COMM_WORLD, tag 8, up to 4 bytes",
        r"  rank 1, task 'exchange', MPI_Recv from rank 0, tag 8, on MPI_COMM_WORLD: 4 bytes have been sent that nothing receives, "
        r"with tag 7 instead of 8",
        rf"  rank 1 has not called {BARRIER}, in which ranks 0, 2 and 3 wait",
        r"cycle of 2 ranks: rank 0 waits for rank 1, rank 1 waits for rank 0",
    ],
    "cycle": [
        r"rank 3: 1 task is suspended and 1 thread outside waits:",
        r"  #\d task 'neighbour' waits \d\.\d s for MPI_Recv from rank 0 of MPI_COMM_WORLD, tag 3, up to 4 bytes",
        r"cycle of 4 ranks: rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 3, rank 3 waits for rank 0",
    ],
    "missing-call": [
        r"  #\d task 'sum' waits \d\.\d s for MPI_Allreduce on MPI_COMM_WORLD, 4 bytes",
        r"  rank 3 has not called MPI_Allreduce on MPI_COMM_WORLD, in which ranks 0, 1 and 2 wait",
        r"cycle of 2 ranks: rank 0 waits for rank 3, rank 3 waits for rank 0",
    ],
    "different-order": [
        r"  calls on MPI_COMM_WORLD differ: MPI_Allreduce on ranks 2 and 3, MPI_Barrier on ranks 0 and 1",
    ],
    "different-roots": [
        r"  #\d task 'collect' waits \d\.\d s for MPI_Gather root 0 of MPI_COMM_WORLD",
        r"  roots of MPI_Gather on MPI_COMM_WORLD differ: root 0 on ranks 0, 1 and 2, root 1 on rank 3",
    ],
    "wrong-communicator": [
        r"  rank 1, task 'edge', MPI_Irecv from rank 0, tag 7, on MPI_COMM_WORLD: 4 bytes have been sent that nothing receives, "
        r"on halo instead of MPI_COMM_WORLD",
    ],
    "missing-in-half": [
        r"  #\d thread \d+ outside waits \d\.\d s for MPI_Barrier on upper half",
        r"  rank 3 has not called MPI_Barrier on upper half, in which rank 2 waits",
        r"cycle of 2 ranks: rank 2 waits for rank 3, rank 3 waits for rank 2",
    ],
    "wrong-source": [
        r"  rank 1, task 'edge', MPI_Recv from rank 2, tag 7, on MPI_COMM_WORLD: 4 bytes have been sent that nothing receives, "
        r"from rank 0 instead of 2",
        r"cycle of 2 ranks: rank 1 waits for rank 2, rank 2 waits for rank 1",
    ],
    "finalised": [
        r"rank 3 has called MPI_Finalize",
        r"  rank 0, task 'last word', MPI_Recv from rank 3, tag 9, on MPI_COMM_WORLD: rank 3 has called MPI_Finalize",
        rf"  rank 3 has called MPI_Finalize instead of {BARRIER}, in which ranks 1 and 2 wait",
    ],
    "thread-order": [
        r"  #\d task 'edge' of pool 'communication' waits \d\.\d s for MPI_Recv from rank 3 of MPI_COMM_WORLD, tag 0, up to 4 bytes",
        r"cycle of 2 ranks: rank 0 waits for rank 1, rank 1 waits for rank 0",
    ],
}
PAGE = ""  # the text of docs/mpi-running.md
HEALTHY = ["healthy-computes", "healthy-sleeps", "healthy-much", "healthy-many", "healthy-at-once"]


class Job:
    """A run of quern in the background, whose output is read from a file."""

    def __init__(self, quern, program, *words):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("QUERN_")}
        self.output = tempfile.TemporaryFile()
        network = [f"--net={rate}"] if (rate := os.environ.get("TEST_HANGS_NET")) else []
        self.process = subprocess.Popen([quern, "run", "-n", str(RANKS), *network, "--", program, *words], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)

    def text(self):
        """Read without seek(): the place in the file is also that at which the job writes."""
        file = self.output.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def wait_for(self, condition, limit):
        """The time at which the output fulfils the condition, or None."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            if condition(self.text()):
                return time.monotonic()
            if ended:
                return None
            time.sleep(0.02)
        return None

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()


def limit():
    """Finding names takes 0.4 s of processor time in each rank, and the machine may have much else to do."""
    return REPORT_WITHIN_S * max(1, os.getloadavg()[0] / os.cpu_count())


def without_numbers(text):
    """The report without the lines of calls, and with the numbers of the page."""
    lines = [line for line in text[text.find(HEADING):text.find(END) + len(END)].splitlines() if not line.startswith("     ")]
    for pattern, number in ((r"thread \d+ outside", "thread 4711 outside"), (r"waits [\d.]+ s", "waits 0.5 s"),
                            (r"0x[0-9a-f]+", "0x7fb9b0588040")):
        lines = [re.sub(pattern, number, line) for line in lines]
    return "\n".join(lines)


def check_hang(quern, program, name):
    """What is wrong, and the seconds until the report."""
    job = Job(quern, program, name)
    try:
        ready = job.wait_for(lambda text: all(f"rank {rank} is ready" in text for rank in range(RANKS)), LIMIT_S)
        told = job.wait_for(lambda text: END in text, LIMIT_S) if ready else None
        time.sleep(0.7 if told else 0)  # it is told once
        text = job.text()
    finally:
        job.end()
    if told is None:
        return [f"no report comes, but\n{text}"], 0
    faults = [f"the report has no line '{line}'" for line in HANGS[name] if not re.search(f"^{line}$", text, re.MULTILINE)]
    if text.count(HEADING) != 1 or text.count(END) != 1:
        faults.append("the report does not come once")
    if name == "wrong-tag" and without_numbers(text) not in PAGE:
        faults.append("the page does not show this report")
    return faults + ([text] if faults else []), told - ready


def check_healthy(quern, program, name):
    job = Job(quern, program, name)
    begun = time.monotonic()
    try:
        job.wait_for(lambda text: False, LIMIT_S)
        status, text = job.process.poll(), job.text()  # None: it has not ended
    finally:
        job.end()
    faults = []
    if status != 0:
        faults.append(f"status {status}")
    if text.strip():
        faults.append(f"it says\n{text}")
    return faults, time.monotonic() - begun


def main():
    global PAGE
    quern, program, page, *words = sys.argv[1:]
    PAGE = pathlib.Path(page).read_text()
    times = 1
    if words[:1] == ["-n"]:
        times, words = int(words[1]), words[2:]
    unknown = [name for name in words if name not in [*HANGS, *HEALTHY]]
    if unknown:
        sys.exit(f"check.py: no case is called {unknown}; there are {[*HANGS, *HEALTHY]}")
    bad = 0
    for name in words or [*HANGS, *HEALTHY]:
        for _ in range(times):
            faults, seconds = (check_hang if name in HANGS else check_healthy)(quern, program, name)
            if name in HANGS and not faults and seconds > limit():
                faults.append(f"the report takes {seconds:.1f} s, more than {limit():.1f} s")
            print(f"{'bad ' if faults else 'good'} {name} ({seconds:.1f} s)", *faults, sep="\n", flush=True)
            bad += bool(faults)
    sys.exit(1 if bad else 0)


main()
