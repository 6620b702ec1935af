#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Starts the cases of cases.cpp under an MPI library, and checks what counters, reports and traces say of its calls.

Usage: check.py <openmpi|mpich> <program of cases.cpp> <docs/mpi_example> <docs/tutorial/mpi> <docs> [case...]
Each case has a time limit; a program that must hang is ended once its report has come. Nothing is left behind: the starter
leads a session of its own, which is ended as a whole."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
STARTERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpiexec.mpich"]}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "QUERN_THREADS": "1"}
# What the libraries say of a call before MPI_Init and after MPI_Finalize.
OUT_OF_TIME = {"openmpi": ["function was called before MPI_INIT was invoked", "function was called after MPI_FINALIZE was invoked"],
               "mpich": ["before initializing or after finalizing MPICH"] * 2}


class Job:
    """A program on two ranks. Its output, both streams together, is read from a file while it runs."""

    def __init__(self, library, program, words, environment, folder):
        self.file = open(folder / "output", "w+b")
        self.process = subprocess.Popen([*STARTERS[library], "-n", "2", program, *words], cwd=folder,
                                        env=dict(os.environ, **ENVIRONMENT, **environment), stdin=subprocess.DEVNULL,
                                        stdout=self.file, stderr=subprocess.STDOUT, start_new_session=True)

    def output(self):
        return (pathlib.Path(self.file.name)).read_text(errors="replace")

    def has_all(self, texts, files):
        """Whether the output holds all texts, and each of the files its own text."""
        folder = pathlib.Path(self.file.name).parent
        return (all(text in self.output() for text in texts) and
                all((folder / name).exists() and text in (folder / name).read_text() for name, text in files.items()))

    def wait(self, texts=(), files=None):
        """The output when the job has ended, or when it and the files hold all texts. None: too late."""
        awaits = bool(texts or files)
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            status = self.process.poll()
            if status is not None or awaits and self.has_all(texts, files or {}):
                return self.output(), status
            time.sleep(0.05)
        return self.output(), None

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.file.close()


class Checks:
    def __init__(self, library, program, example, tutorial, docs):
        self.library, self.program, self.example, self.tutorial, self.docs = library, program, example, tutorial, docs
        self.faults = []

    def expect(self, condition, what, output=""):
        if not condition:
            self.faults.append(f"{what}\n{output}")

    def run(self, *words, texts=(), files=None, **environment):
        """Output and exit status; the status is None for a job that was ended from here."""
        with tempfile.TemporaryDirectory() as folder:
            if "QUERN_JOB" in environment:
                (pathlib.Path(folder) / "question").write_text("1")
            job = Job(self.library, self.program, words, environment, pathlib.Path(folder))
            try:
                output, status = job.wait(texts, files)
            finally:
                job.end()
            self.files = {each.name: each.read_bytes() for each in pathlib.Path(folder).iterdir()}
            return output, status

    def page(self, name):
        return (self.docs / name).read_text()

    def expect_texts(self, output, texts):
        for text in texts:
            self.expect(text in output, f"does not say '{text}' but", output)

    # The cases.

    def page_shows_the_counters(self):
        table = subprocess.run([self.program, "list"], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        self.expect(table.count("\n") == 11 and table in self.page("counters.md"), "docs/counters.md does not show this table:", table)

    def page_shows_the_example(self):
        self.program = self.example
        output, status = self.run()
        self.expect(status == 0, f"status {status}", output)
        self.expect(output in self.page("mpi.md") and "pi is about" in output, "docs/mpi.md does not show this output:", output)

    def tutorial_says_what_it_prints(self):
        self.program = self.tutorial
        output, status = self.run()
        self.expect(status == 0, f"status {status}", output)
        shown = self.page("tutorial/11-mpi.md").replace("3 ranks, sum of their numbers 3;", "2 ranks, sum of their numbers 1;")
        self.expect(output in shown and "squares" in output, "docs/tutorial/11-mpi.md does not show this output:", output)

    def page_shows_the_messages(self):
        page = self.page("mpi.md")
        for case, pattern in (("finalise", r"quern: MPI_Finalize .*"), ("twice", r"quern: MPI has.*"), ("count", r"quern: MPI_Comm_split.*")):
            output, _ = self.run(case)
            for message in re.findall(pattern, output):
                message = message.replace("from rank 0", "from rank 1")
                message = re.sub(r" \(called in .*\): until", " (called in main at halo.cpp:21): until", message)
                self.expect(f"`{message}`" in page, "docs/mpi.md does not show this message:", message)

    def counts(self):
        output, status = self.run("count")
        self.expect(status == 0, f"status {status}", output)
        values = {}
        for rank, part, rest in re.findall(r"rank (\d) (\w+) ((?:/\S+=\d+ ?)+)\n", output):
            values[rank, part] = {name: int(value) for name, value in re.findall(r"/(\S+)=(\d+)", rest)}
        self.expect("MPI_PROC_NULL" not in output, "a status is wrong", output)
        self.expect(len(values) == 8, "some line is missing", output)
        if len(values) != 8:
            return

        def expect_value(rank, part, name, wanted):
            value = values[str(rank), part][name]
            self.expect(value in wanted, f"rank {rank}, {part}: {name} is {value}, not in {wanted}", output)

        any_time = range(0, 60 * 10**9)
        for part in ("idle", "busy"):
            expect_value(0, part, "count/sent", [3])
            expect_value(0, part, "count/received", [0])
            expect_value(1, part, "count/sent", [0])
            expect_value(1, part, "count/received", [3])
            for rank in 0, 1:
                expect_value(rank, part, "count/bytes", [1200])
                expect_value(rank, part, "count/outstanding", [0])
                expect_value(rank, part, "count/blocking", [0])
            expect_value(1, part, "count/suspended", [1, 2, 3])
            expect_value(1, part, "time/waiting", range(50 * 10**6, 60 * 10**9))
            now = values["1", part]
            self.expect(now["time/hidden"] <= now["time/waiting"], f"{part}: hidden exceeds waiting", output)
            self.expect(now["count/polls"] >= now["count/polls-in-vain"] > 0, f"{part}: polls", output)
        share = {part: values["1", part]["time/hidden"] / values["1", part]["time/waiting"] for part in ("idle", "busy")}
        self.expect(share["idle"] < 0.3 and share["busy"] > 0.5, f"hidden shares are {share}", output)
        for rank in 0, 1:
            for name, wanted in (("count/sent", [2]), ("count/received", [2]), ("count/bytes", [32]), ("time/waiting", any_time)):
                expect_value(rank, "posted", name, wanted)
            expect_value(rank, "split", "count/blocking", [1, 2])
        self.expect(output.count("quern: MPI_Comm_split has no non-blocking form") == 2, "the warning of what blocks", output)

    def records(self):
        output, status = self.run("count", QUERN_TRACE="run.%r.pftrace", QUERN_REPORT="run.%r.html", QUERN_PROFILE="run.%r.txt")
        self.expect(status == 0, f"status {status}", output)
        missing = [f"run.{rank}.{kind}" for rank in (0, 1) for kind in ("pftrace", "html", "txt")
                   if f"run.{rank}.{kind}" not in self.files]
        self.expect(not missing, f"no files {missing}, but {list(self.files)}", output)
        if missing:
            return
        for rank, wanted, other in ((0, b"send to 1", b"send to 0"), (1, b"receive from 0", b"receive from 1")):
            trace = self.files[f"run.{rank}.pftrace"]
            self.expect(wanted in trace and other not in trace, f"the trace of rank {rank} lacks {wanted} or has {other}")
        self.expect(self.files["run.0.pftrace"].count(b"send to 1") == 8, "rank 0 has sent eight messages")
        profile = self.files["run.1.txt"].decode()
        waits = [line for line in profile.splitlines() if line.startswith("MPI_Recv from rank 0 ")]
        self.expect(waits and "cases.cpp" in waits[0], "the profile of rank 1 does not show the wait and its line:", profile)
        self.expect(b"MPI_Recv from rank 0" in self.files["run.1.html"], "the report of rank 1 does not show the wait")
        words = re.search(r"Communication: \d+ messages sent and 8 received, [\d.]+ \wi?B\. Tasks waited [\d.]+ \w+ in calls; "
                          r"[< \d.]+ % of that was hidden", profile)
        self.expect(words, "the profile of rank 1 does not say what was hidden:", profile)
        self.expect(words and words[0].encode() in self.files["run.1.html"], "nor does the report")

    HANG = ["for MPI_Recv from rank {other} of MPI_COMM_WORLD, tag 7, up to 800 bytes",
            "for MPI_Recv from any rank of halo, any tag, up to 4 bytes",
            "for MPI_Waitall of 2 requests"]

    def hangs_with_patience(self):
        texts = [text.format(other=other) for text in self.HANG for other in (0, 1)]
        texts += ["poller 'MPI' may wake one: 3 operations are outstanding, without progress for",
                  "; MPI_Recv from rank 1 of MPI_COMM_WORLD, tag 7, up to 800 bytes",
                  "quern: nothing has run for 1 s, and only 1 poller could wake a task; 3 tasks are suspended and 1 thread outside waits:"]
        output, status = self.run("hang", "--quern:hang-report=1", texts=texts)
        self.expect(status is None, f"status {status}", output)
        self.expect_texts(output, texts)

    def tells_the_job_where_it_waits(self):
        """What `quern run` reads of a rank, and here also the sanitizers' presets, which do not build that command."""
        report = "3 tasks are suspended and 1 thread outside waits"
        output, status = self.run("hang", files={f"state.{rank}": report for rank in (0, 1)}, QUERN_JOB=".")
        self.expect(status is None, f"status {status}", output)
        for rank in (0, 1):
            state = json.loads(self.files.get(f"state.{rank}", "{}"))
            calls = sorted(part["call"] for wait in state.get("waits", []) for part in wait["parts"])
            self.expect(calls == ["MPI_Irecv", "MPI_Irecv", "MPI_Recv", "MPI_Recv"], f"rank {rank} waits in {calls}", output)
            self.expect(report in state.get("report", ""), f"the state of rank {rank} lacks the report", output)

    def an_operator_that_waits_for_ever_is_named(self):
        texts = ["quern: a function that MPI has called in MPI_Allreduce waits for ever: ", "for mutex 0x", "for MPI_Sendrecv"]
        output, status = self.run("operator-waits")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, texts)

    def an_operator_that_throws_is_named(self):
        output, status = self.run("operator-throws")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, ["quern: a function that MPI has called in MPI_Allreduce has thrown: no sum; MPI cannot continue"])

    def an_error_that_ends_the_job_names_its_call(self):
        for case in ("too-much", "too-much-later", "too-much-in-own-runtime"):
            output, status = self.run(case)
            self.expect(status not in (None, 0), f"{case}: status {status}", output)
            self.expect_texts(output, ["quern: MPI_Recv from rank 0 of MPI_COMM_WORLD, tag 7, up to 4 bytes, in task 'left edge', has failed: "])

    def a_call_that_keeps_others_out_is_named(self):
        texts = ["quern: MPI_Comm_split has no non-blocking form (called in ", "entrance.cpp:",
                 " has been in MPI_Comm_split for ", ", and other calls of MPI in this rank wait until it returns"]
        output, status = self.run("long-call", texts=texts)
        self.expect(status is None, f"status {status}", output)
        self.expect_texts(output, texts)

    def hangs_outside_tasks(self):
        texts = ["MPI_Barrier on MPI_COMM_WORLD", "for MPI_Recv from rank 0 of MPI_COMM_WORLD, tag 7"]
        output, status = self.run("outside", "--quern:hang-report=1", texts=texts)
        self.expect(status is None, f"status {status}", output)
        self.expect_texts(output, texts)

    def deadlocks_without_messages(self):
        texts = ["quern: no task can run any more, and nothing is left that could wake one; 1 task is suspended", "waits"]
        output, status = self.run("deadlock", texts=texts)
        self.expect(status is None, f"status {status}", output)
        self.expect_texts(output, texts)

    def reports_on_demand(self):
        output, status = self.run("ask")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, [self.HANG[0].format(other=1), self.HANG[1], self.HANG[2]])

    def finalising_names_what_waits(self):
        output, status = self.run("finalise")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, ["quern: MPI_Finalize while 1 call waits: MPI_Recv from rank"])

    def calls_before_initialising(self):
        output, status = self.run("before")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, ["initialised 0, finalised 0", OUT_OF_TIME[self.library][0]])

    def calls_after_finalising(self):
        output, status = self.run("after")
        self.expect(status not in (None, 0), f"status {status}", output)
        self.expect_texts(output, ["initialised 1, finalised 1", OUT_OF_TIME[self.library][1]])

    def initialising_twice(self):
        output, status = self.run("twice")
        self.expect(status == 0, f"status {status}", output)
        self.expect_texts(output, ["quern: MPI has been initialised before"])


CASES = [name for name, value in vars(Checks).items() if callable(value) and name[0] != "_"
         and name not in ("expect", "run", "page", "expect_texts")]


def main():
    library, program, example, tutorial, docs, *wanted = sys.argv[1:]
    unknown = [name for name in wanted if name not in CASES]
    if unknown:
        sys.exit(f"check.py: no case is called {unknown}; there are {CASES}")
    bad = 0
    for name in wanted or CASES:
        checks = Checks(library, os.path.abspath(program), os.path.abspath(example), os.path.abspath(tutorial), pathlib.Path(docs))
        begun = time.monotonic()
        getattr(checks, name)()
        print(f"{'bad ' if checks.faults else 'good'} {name} ({time.monotonic() - begun:.1f} s)", *checks.faults, sep="\n", flush=True)
        bad += bool(checks.faults)
    sys.exit(1 if bad else 0)


main()
