# SPDX-License-Identifier: BSL-1.0
"""Compiles the random program of a seed, runs it on a library, and says how the answers differ from those of the serial
reference. run_random.py uses it; no limit is ever raised here."""

import dataclasses
import os
import random
import shlex
import signal
import subprocess
import time

import generate

COMPILERS = {"gcc": "g++", "clang": "clang++-19"}
COMPILE_LIMIT_S = 300
OPTIONS = ("-std=c++17", "-O1", "-w")
# Further arguments of every program: the serial reference and all runs print the answers of so many rounds.
ROUNDS = 5


@dataclasses.dataclass(frozen=True)
class Run:
    seed: int
    compiler: str
    way: str
    threads: int

    def __str__(self):
        return f"seed {self.seed}, {self.compiler}, {self.way}, {self.threads} threads"


class BuildError(Exception):
    pass


def variables_of(run, build):
    """The environment that a run adds: the library, and settings that follow from the seed."""
    rng = random.Random(run.seed)
    settings = {
        "OMP_MAX_ACTIVE_LEVELS": str(rng.choice((1, 2, 3, 3, 4))),
        "OMP_SCHEDULE": rng.choice(("static", "static,3", "dynamic", "dynamic,2", "guided", "auto")),
        "OMP_CANCELLATION": rng.choice(("true", "false")),
        "OMP_NUM_THREADS": str(run.threads),
    }
    passive = rng.random() < 0.7
    if run.way == "own":
        settings["OMP_WAIT_POLICY"] = "passive"  # members that spin on a loaded machine take minutes
    else:
        if passive:
            settings["OMP_WAIT_POLICY"] = "passive"
        if run.way == "preload":
            settings["LD_PRELOAD"] = os.path.join(build, "lib/libquern_omp.so")
        else:
            settings["LD_LIBRARY_PATH"] = os.path.join(build, "lib/quern/omp")
    return settings


def program_name(folder, seed, compiler):
    return os.path.join(folder, f"seed{seed}.{compiler}")


def command_of(run, build, folder, body):
    """The command that repeats a run, of one body if it has a number."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables_of(run, build).items())
    only = f" {body} {ROUNDS * 10}" if body is not None else f" -1 {ROUNDS}"
    return f"{variables} {program_name(folder, run.seed, run.compiler)}{only}"


def compile_source(words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=COMPILE_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{shlex.join(words)}: not compiled in {COMPILE_LIMIT_S} s") from None
    except FileNotFoundError:
        raise BuildError(f"{words[0]} is not installed") from None
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(words)}\n" + "\n".join(line for line in done.stdout.split("\n") if "error" in line)[:2000])


def build_program(folder, seed, bodies, compilers):
    """Writes and compiles a seed's program; returns the answers of the serial reference, one for each body."""
    source = os.path.join(folder, f"seed{seed}.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(generate.program_of(seed, bodies))
    serial = os.path.join(folder, f"seed{seed}.serial")
    compile_source([COMPILERS[compilers[0]], "-std=c++17", "-O0", "-w", source, "-o", serial])
    for compiler in compilers:
        compile_source([COMPILERS[compiler], *OPTIONS, "-fopenmp", source, "-o", program_name(folder, seed, compiler)])
    lines = subprocess.run([serial], stdout=subprocess.PIPE, text=True, timeout=COMPILE_LIMIT_S, check=True).stdout.splitlines()
    answers = [line.split()[1] for line in lines]
    if len(answers) != bodies:
        raise BuildError(f"{serial} has printed {len(answers)} answers of {bodies}")
    return answers


def files_of(folder, seed):
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(f"seed{seed}.")]


@dataclasses.dataclass
class Result:
    fault: str  # empty if all answers are right
    body: int | None
    seconds: float
    output: str


def execute(run, build, folder, answers, limit_s, body=None, rounds=ROUNDS):
    """Runs the program, or one of its bodies, and compares the answers."""
    words = [program_name(folder, run.seed, run.compiler), str(-1 if body is None else body), str(rounds)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_", "GOMP_"))}
    variables.update(variables_of(run, build))
    start = time.monotonic()
    state = ""
    with subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            state = look_into(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
    seconds = time.monotonic() - start
    fault, at = compare(output, answers, process.returncode, rounds, body)
    if state:
        fault, at = f"time limit of {limit_s} s in body {at}; {state}", at
    return Result(fault, at if fault else None, seconds, (errors if fault else "")[-3000:])


def compare(output, answers, status, rounds, body):
    """Returns what is wrong with the lines "body answer", and the body at which it went wrong."""
    numbers = list(range(len(answers))) if body is None else [body]
    lines = output.splitlines()
    for line, number in zip(lines, numbers * rounds):
        if line.split() == [str(number)]:
            return f"body {number} has not ended: status {status}", number
        if line.split() != [str(number), answers[number]]:
            return f"body {number}: {line!r}, and not {answers[number]}", number
    if len(lines) != len(numbers) * rounds:
        return f"{len(lines)} answers and not {len(numbers) * rounds}: status {status}", numbers[len(lines) % len(numbers)]
    return (f"status {status} behind the last answer", numbers[-1]) if status else ("", None)


def processor_ticks(pid):
    """Clock ticks that all threads of a process have used, and the states of the threads."""
    used, states = 0, ""
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        used += int(fields[11]) + int(fields[12])
        states += fields[0]
    return used, states


def look_into(pid):
    """What the threads of a process over its limit do: a program that computes or spins is not one that sleeps for ever."""
    try:
        before, _ = processor_ticks(pid)
        time.sleep(2)
        after, states = processor_ticks(pid)
    except FileNotFoundError:
        return "it has ended meanwhile"
    text = f"{after - before} ticks of the processor in 2 s, threads {states}"
    try:
        calls = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=60, check=False).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return text
    return text + "\n" + "\n".join(line for line in calls.split("\n") if line.startswith(("Thread", "#")))
